"""Spark's types as values, compared, and joined where files disagree. Nothing here touches Spark."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lakebed.names import spark_identifier

_WIDEST_DECIMAL = 38
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_NUMBERS = {*_DIGITS, "decimal", "float", "double"}
_TIMES = {"timestamp", "timestamp_ntz"}
NESTED = frozenset({"array", "map", "struct"})


@dataclass(frozen=True)
class Type:
    """A type: its name, its numbers (`decimal(12,2)`), and the named types inside it."""

    name: str
    numbers: tuple[int, ...] = ()
    inside: tuple[tuple[str, "Type"], ...] = ()

    def __str__(self) -> str:
        if self.name == "struct":
            return "struct<" + ",".join(f"{spark_identifier(name)}:{part}" for name, part in self.inside) + ">"
        if self.inside:
            return f"{self.name}<{','.join(str(part) for _, part in self.inside)}>"
        return f"{self.name}({','.join(map(str, self.numbers))})" if self.numbers else self.name

    @property
    def nested(self) -> bool:
        return self.name in NESTED

    @property
    def names(self) -> Iterator[str]:
        """Its own name and those of all types inside it."""
        yield self.name
        for _, part in self.inside:
            yield from part.names


STRING = Type("string")
_DOUBLE = Type("double")


def join_types(one: Type, other: Type, *, dates_are_times: bool = True) -> Type:
    """The type that holds the values of both; text where nothing narrower does. Whole numbers and doubles join to double."""
    if one == other:
        return one
    names = {one.name, other.name}
    if names <= _NUMBERS:
        return _join_numbers(one, other)
    if one.nested and one.name == other.name:
        return _join_nested(one, other)
    if names <= {"date", *_TIMES} and ("date" not in names or dates_are_times):
        return Type("timestamp" if "timestamp" in names else "timestamp_ntz")
    return STRING


def holds(wanted: Type, own: Type) -> bool:
    """Whether every value of a file's own type can be kept as the wanted one."""
    if own == wanted or {own.name, wanted.name} <= _TIMES:  # a time without a zone is in the lake's
        return True
    if own.nested or wanted.nested:
        return _holds_nested(wanted, own)
    if wanted.name == "double":
        return own.name in {"float", "tinyint", "smallint", "int"}
    return wanted != STRING and join_types(own, wanted) == wanted


def extends(wider: Type, own: Type) -> bool:
    """Whether `wider` only adds fields to structs in `own`: a reader that goes by names can read one as the other."""
    if own.name != wider.name or not own.nested:
        return own == wider
    parts = dict(wider.inside)
    return all(name in parts and extends(parts[name], part) for name, part in own.inside)


def kept_as(type_: Type) -> Type:
    """The type in a table: `timestamp(9)`, nanoseconds in a Parquet file, becomes `timestamp`."""
    return replace(type_, numbers=()) if type_.name in _TIMES else type_


def _join_numbers(one: Type, other: Type) -> Type:
    first, second = _as_decimal(one), _as_decimal(other)
    if not first or not second:
        return _DOUBLE
    if "decimal" not in {one.name, other.name}:
        return max(one, other, key=lambda type_: _DIGITS[type_.name])
    scale = max(first[1], second[1])
    digits = max(first[0] - first[1], second[0] - second[1]) + scale
    return Type("decimal", (digits, scale)) if digits <= _WIDEST_DECIMAL else _DOUBLE


def _as_decimal(type_: Type) -> tuple[int, int] | None:
    """How many digits it has, and how many of them after the point."""
    if type_.name == "decimal":
        return type_.numbers[0], type_.numbers[1]
    return (_DIGITS[type_.name], 0) if type_.name in _DIGITS else None


def _join_nested(one: Type, other: Type) -> Type:
    parts = dict(one.inside)
    for name, part in other.inside:
        parts[name] = join_types(parts[name], part) if name in parts else part
    return Type(one.name, (), tuple(parts.items()))


def _holds_nested(wanted: Type, own: Type) -> bool:
    """Part by part, in the same order: Spark casts a struct by the places of its fields."""
    if own.name != wanted.name or len(own.inside) != len(wanted.inside):
        return False
    pairs = zip(wanted.inside, own.inside, strict=True)
    return all(there.casefold() == here.casefold() and holds(to, of) for (there, to), (here, of) in pairs)
