"""Batch keys: the values that tell batches apart, read from paths and written as SQL. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from urllib.parse import quote, unquote

from lakebed.batches.pattern import NULL_PART
from lakebed.names import spark_identifier
from lakebed.types import INTEGER_BITS, STRING, ColumnType, Primitive, fitted

KeyValue = str | int | bool | date | Decimal | None
KeyValues = tuple[KeyValue, ...]

_BOOLEANS = {"true": True, "false": False}
# what a value of a type looks like in a path, for patterns in which any text would be too wide
SHAPES = {
    **dict.fromkeys(INTEGER_BITS, r"[+-]?[0-9]+"),
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "boolean": r"[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]",
    "decimal": r"[+-]?[0-9]+(?:\.[0-9]+)?",
}


@dataclass(frozen=True)
class BatchKey:
    """A column whose values tell batches apart."""

    name: str
    type: ColumnType = STRING


def type_problem(type_: ColumnType) -> str:
    """Why a column of this type cannot be a batch key; empty if it can.

    Equal values must have one spelling and one meaning in every engine: NaN and -0.0 do not.
    """
    if isinstance(type_, Primitive) and type_.name in {*SHAPES, "string"}:
        return ""
    exact = "string, int, bigint, date, boolean and decimal"
    return f"a batch key cannot be of type {type_}; it may be {exact}"


def read_value(text: str | None, type_: ColumnType) -> KeyValue:
    """The value that a text spells; `ValueError` if it spells none of this type."""
    if text is None:
        return None
    name = type_.name if isinstance(type_, Primitive) else ""
    if name == "string":
        return text
    try:
        if name in INTEGER_BITS:
            return _integer(text, INTEGER_BITS[name])
        if name == "date":
            return date.fromisoformat(text)
        if name == "boolean":
            return _BOOLEANS[text.casefold()]
        return _decimal(text, type_)
    except (ValueError, KeyError, InvalidOperation):
        raise ValueError(f"{text!r} is not a value of type {type_}") from None


def _integer(text: str, bits: int) -> int:
    if not text.lstrip("+-").isascii() or not text.lstrip("+-").isdigit():
        raise ValueError(text)
    found = int(text)
    if not -(1 << bits - 1) <= found < 1 << bits - 1:
        raise ValueError(text)
    return found


def _decimal(text: str, type_: ColumnType) -> Decimal:
    digits, scale = type_.numbers if isinstance(type_, Primitive) else (38, 0)
    value = fitted(Decimal(text), digits, scale)
    if value is None:
        raise ValueError(text)
    return value


def label(keys: Sequence[BatchKey], values: KeyValues) -> str:
    """A batch as people write and states store it: `year=2020/set=COUNTY`; one for each value."""
    return "/".join(f"{key.name}={_spelt(value)}" for key, value in zip(keys, values, strict=True))


def _spelt(value: KeyValue) -> str:
    if value is None:
        return NULL_PART
    if isinstance(value, bool):
        return str(value).lower()
    return quote(str(value), safe=" :@,+'()!~;&")


def read_label(text: str, keys: Sequence[BatchKey]) -> KeyValues:
    """The values of a label, in the order of the keys; `ValueError` if it names other keys."""
    given: dict[str, str] = {}
    for part in text.split("/"):
        name, sign, value = part.partition("=")
        if not sign or name in given:
            raise ValueError(f"a batch is written {_example(keys)}, not {text!r}")
        given[name] = value
    if given.keys() != {key.name for key in keys}:
        raise ValueError(f"a batch is written {_example(keys)}, not {text!r}")
    return tuple(read_value(unspelt(given[key.name]), key.type) for key in keys)


def unspelt(text: str) -> str | None:
    """A value of a label as plain text."""
    return None if text == NULL_PART else unquote(text, errors="strict")


def _example(keys: Sequence[BatchKey]) -> str:
    return "/".join(f"{key.name}=…" for key in keys)


def condition(keys: Sequence[BatchKey], values: KeyValues) -> str:
    """Spark SQL that is true for exactly the rows of a batch; without keys, for all rows."""
    if not keys:
        return "TRUE"
    return " AND ".join(
        f"{spark_identifier(key.name)} IS NULL"
        if value is None
        else f"{spark_identifier(key.name)} = {literal(value, key.type)}"
        for key, value in zip(keys, values, strict=True)
    )


def literal(value: KeyValue, type_: ColumnType) -> str:
    """A value as Spark SQL of exactly this type."""
    if value is None:
        return f"CAST(NULL AS {type_})"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, date):
        return f"DATE {_quoted(value.isoformat())}"
    if isinstance(value, int) and str(type_) in {"int", "bigint"}:
        return f"{value}{'L' if str(type_) == 'bigint' else ''}"
    return f"CAST({_quoted(str(value))} AS {type_})"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def values_of(
    captured: Mapping[str, str | None], keys: Sequence[BatchKey], *, path: str
) -> KeyValues:
    """The batch that a path belongs to; `ValueError` names the path."""
    try:
        return tuple(read_value(captured[key.name], key.type) for key in keys)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def in_order(values: KeyValues) -> tuple[tuple[bool, KeyValue], ...]:
    """A sort key: values in their order, NULL last."""
    return tuple((value is None, 0 if value is None else value) for value in values)
