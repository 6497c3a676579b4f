"""Numbers and times of JSON records as they are written: Spark's reader rounds them to their types.

The reader keeps a number as it is written where the schema says string.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from lakebed.engines.spark.landing.reader import columns_text, load, reader_of
from lakebed.engines.spark.landing.text_values import (
    is_finer,
    keeps_digits,
    matches,
    scale_of,
    whole_digits,
)
from lakebed.names import spark_identifier
from lakebed.ports import Field, FileGroup
from lakebed.tables import string_literal
from lakebed.types import STRING, ColumnType, Map, Primitive, Struct, parse_type, with_parts
from lakebed.types.spelling import (
    ANY_NOT_FINITE,
    FINER_THAN_MICROSECONDS,
    Digits,
    type_of_digits,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FLOATING = {"double", "float"}
_TIMES = {"timestamp", "timestamp_ntz"}
# Where a value begins, which texts such as hashes in the middle of a field do not; a decimal may be
# in quotes.
_NUMBER = r"""[:,\[]\s*"?(-?[0-9]+(?:[.][0-9]*)?(?:[eE][+-]?[0-9]+)?)"""
_LONG = r"""[:,\[]\s*"?-?[0-9][0-9.]{15}"""  # with fewer digits, a double keeps all


def exact_types(
    session: "SparkSession", group: FileGroup, columns: Sequence[Field]
) -> tuple[Field, ...]:
    """The columns with decimals or texts in place of doubles that would lose digits."""
    types = [parse_type(column.type, strict=False) for column in columns]
    leaves = [leaf for column in columns for leaf in _leaves(column, _FLOATING)]
    if not leaves:
        return tuple(columns)
    (row,) = (
        _texts(session, group, columns, _FLOATING)
        .selectExpr(*(part for texts, _ in leaves for part in _digits_of(texts)))
        .collect()
    )
    found = [
        type_of_digits({"fraction"}, Digits(row[at] or 0, row[at + 1] or 0, bool(row[at + 2])))
        for at in range(0, len(row), 3)
    ]
    told = iter(found)
    return tuple(
        Field(column.name, str(_with_leaves(type_, told)))
        for column, type_ in zip(columns, types, strict=True)
    )


def rounded_rows(session: "SparkSession", group: FileGroup) -> "tuple[DataFrame, str] | None":
    """Records with their numbers and times as texts, and whether a record has one that its column
    does not keep; None if that cannot happen.
    """
    kinds = {*_FLOATING, *_TIMES, "decimal"}
    leaves = [leaf for column in group.columns for leaf in _leaves(column, kinds)]
    if not leaves:
        return None
    lost = [
        f"exists({texts}, t -> t IS NOT NULL AND {_loses('t', type_)})" for texts, type_ in leaves
    ]
    return _texts(session, group, group.columns, kinds), f"({' OR '.join(lost)})"


def may_round(columns: Sequence[Field]) -> str:
    """Whether a line (`value`) may hold a fraction or a time that one of these columns does not
    keep. Of integers the value itself tells.
    """
    names = {column.type for column in columns}
    signs, doubts = list[str](), list[str]()
    if names & _FLOATING or any(name.startswith("decimal") for name in names):
        tokens = f"regexp_extract_all(value, {string_literal(_NUMBER)}, 1)"
        lost = f"length(t) > 15 AND t RLIKE '[.eE]' AND {_loses('t', Primitive('double'))}"
        signs.append(_LONG)
        doubts.append(f"exists({tokens}, t -> {lost})")
    if names & _TIMES:
        signs.append(FINER_THAN_MICROSECONDS)
        doubts.append(is_finer("value"))
    if not signs:
        return "false"
    # nearly no line has any of the signs: one search for all of them
    return f"(value RLIKE {string_literal('|'.join(signs))} AND ({' OR '.join(doubts)}))"


def _texts(
    session: "SparkSession", group: FileGroup, columns: Sequence[Field], kinds: Collection[str]
) -> "DataFrame":
    """The records, with texts for values of these kinds."""
    spelt = [
        Field(column.name, str(_as_texts(parse_type(column.type, strict=False), kinds)))
        for column in columns
    ]
    return load(reader_of(session, group).schema(columns_text(spelt)), group)


def _as_texts(type_: ColumnType, kinds: Collection[str]) -> ColumnType:
    if type_.name in kinds:
        return STRING
    return with_parts(type_, tuple((name, _as_texts(part, kinds)) for name, part in type_.parts))


def _leaves(column: Field, kinds: Collection[str]) -> Iterator[tuple[str, ColumnType]]:
    """Arrays of the texts that a record has for each value of these kinds, and its type."""
    type_ = parse_type(column.type, strict=False)
    yield from _below(spark_identifier(column.name), type_, kinds, depth=0)


def _below(
    value: str, type_: ColumnType, kinds: Collection[str], *, depth: int
) -> Iterator[tuple[str, ColumnType]]:
    if isinstance(type_, Struct):
        for name, part in type_.fields:
            yield from _below(f"{value}.{spark_identifier(name)}", part, kinds, depth=depth)
    elif type_.is_nested:
        values = f"map_values({value})" if isinstance(type_, Map) else value
        _, part = type_.parts[-1]
        for texts, leaf in _below(f"x{depth}", part, kinds, depth=depth + 1):
            inside = f"flatten(transform({values}, x{depth} -> {texts}))"
            yield f"coalesce({inside}, array())", leaf
    elif type_.name in kinds:
        yield f"array({value})", type_


def _with_leaves(type_: ColumnType, leaves: Iterator[ColumnType]) -> ColumnType:
    """The type with others in place of its floating numbers, in their order."""
    if type_.name in _FLOATING:
        return next(leaves)
    return with_parts(
        type_, tuple((name, _with_leaves(part, leaves)) for name, part in type_.parts)
    )


def _digits_of(texts: str) -> Iterator[str]:
    finite = f"filter({texts}, t -> NOT {matches('t', ANY_NOT_FINITE)})"
    yield f"max(array_max(transform({finite}, t -> {whole_digits('t')})))"
    yield f"max(array_max(transform({finite}, t -> {scale_of('t')})))"
    yield f"bool_or(exists({finite}, t -> {_loses('t', Primitive('double'))}))"


def _loses(text: str, type_: ColumnType) -> str:
    """Whether a number or time is more than its type keeps."""
    if type_.name in _TIMES:
        return is_finer(text)
    if isinstance(type_, Primitive) and type_.name == "decimal":
        return f"{scale_of(text)} > {type_.numbers[1]}"
    kept = keeps_digits(text, f"try_cast({text} AS {type_.name})", type_.name)
    return f"NOT ({matches(text, ANY_NOT_FINITE)} OR {kept})"
