"""Whether two rows are the same, as text of Spark SQL. Pure."""

import re
from collections.abc import Iterable, Sequence

from lakebed.names import spark_identifier
from lakebed.ports import Field
from lakebed.tables.columns.types import split_type, struct_field

_NESTED = re.compile(r"\s*(array|map|struct)\s*<(.*)>.*", re.IGNORECASE | re.DOTALL)


def find_column(name: str, columns: Iterable[Field]) -> Field | None:
    """The column of this name; like Spark, without regard to case."""
    return next((column for column in columns if column.name.lower() == name.lower()), None)


def free_name(name: str, columns: Iterable[Field]) -> str:
    """A quoted name that none of the columns has: `name`, longer if need be."""
    columns = tuple(columns)
    while find_column(name, columns):
        name += "_"
    return spark_identifier(name)


def other_columns(columns: Iterable[Field], without: Iterable[str | None]) -> tuple[Field, ...]:
    """The columns that have none of these names."""
    left_out = {name.lower() for name in without if name}
    return tuple(column for column in columns if column.name.lower() not in left_out)


def holds_map(type: str) -> bool:
    """Whether values of the type are, or hold, maps: the one thing Spark neither compares nor sorts."""
    return "map<" in type.lower()


def rows_equal(columns: Sequence[Field], one: str, other: str) -> str:
    """A condition: the rows of two aliases agree in these columns, NULL being a value like any other.

    `least` is an AND that Spark does not take apart into keys of a join: sorting by them all costs half as much again.
    """
    pairs = (tuple(comparable(f"{alias}.{spark_identifier(c.name)}", c.type) for alias in (one, other)) for c in columns)
    equal = [f"{left} <=> {right}" for left, right in pairs]
    return f"least(TRUE, {', '.join(equal)})" if equal else "TRUE"


def comparable(expression: str, type: str, *, depth: int = 0) -> str:
    """An expression that is equal for equal values and can be sorted: the value itself, with its maps as sorted entries."""
    nested = _NESTED.fullmatch(type) if holds_map(type) else None
    if not nested:
        return expression
    kind, inner, item = nested[1].lower(), nested[2], f"x{depth}"
    if kind == "array":
        return f"transform({expression}, {item} -> {comparable(item, inner, depth=depth + 1)})"
    if kind == "map":
        value = comparable(f"{item}.value", tuple(split_type(inner))[1], depth=depth + 1)
        return f"sort_array(transform(map_entries({expression}), {item} -> struct({item}.key, {value})))"
    named = ((spark_identifier(name), of) for name, of in map(struct_field, split_type(inner)))
    parts = (comparable(f"{expression}.{name}", of, depth=depth) for name, of in named)
    return f"if({expression} IS NULL, NULL, struct({', '.join(parts)}))"
