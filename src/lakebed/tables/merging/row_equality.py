"""Equality of rows, as Spark SQL. Pure."""

from collections.abc import Iterable, Sequence

from lakebed.names import spark_identifier
from lakebed.ports import Field
from lakebed.types import Array, ColumnType, Map, Struct, parse_type


def find_column(name: str, columns: Iterable[Field]) -> Field | None:
    """The column with this name, ignoring case as Spark does."""
    return next((column for column in columns if column.name.lower() == name.lower()), None)


def free_name(name: str, columns: Iterable[Field]) -> str:
    """A quoted name that no column has: `name`, made longer if necessary."""
    columns = tuple(columns)
    while find_column(name, columns):
        name += "_"
    return spark_identifier(name)


def other_columns(columns: Iterable[Field], without: Iterable[str | None]) -> tuple[Field, ...]:
    """The columns except those with these names."""
    left_out = {name.lower() for name in without if name}
    return tuple(column for column in columns if column.name.lower() not in left_out)


def holds_map(type: str) -> bool:
    """Whether the type is or contains a map, the only type that Spark can neither compare
    nor sort.
    """
    return _has_map(parse_type(type, strict=False))


def _has_map(type_: ColumnType) -> bool:
    return isinstance(type_, Map) or any(_has_map(part) for _, part in type_.parts)


def rows_equal(columns: Sequence[Field], one: str, other: str) -> str:
    """A condition: the rows of two aliases are equal in these columns; NULL equals NULL.

    `least` is an AND that Spark does not split into join keys: sorting by all of them would cost
    half as much again.
    """
    pairs = (
        tuple(comparable(f"{alias}.{spark_identifier(c.name)}", c.type) for alias in (one, other))
        for c in columns
    )
    equal = [f"{left} <=> {right}" for left, right in pairs]
    return f"least(TRUE, {', '.join(equal)})" if equal else "TRUE"


def comparable(expression: str, type: str) -> str:
    """An expression that can be compared and sorted: the value itself, with its maps as sorted
    entries.
    """
    return _comparable(expression, parse_type(type, strict=False), depth=0)


def _comparable(expression: str, type_: ColumnType, *, depth: int) -> str:
    item = f"x{depth}"
    match type_:
        case Array(element) if _has_map(type_):
            return (
                f"transform({expression}, {item} -> {_comparable(item, element, depth=depth + 1)})"
            )
        case Map(_, value):
            entry = f"struct({item}.key, {_comparable(f'{item}.value', value, depth=depth + 1)})"
            return f"sort_array(transform(map_entries({expression}), {item} -> {entry}))"
        case Struct(fields) if _has_map(type_):
            parts = (
                _comparable(f"{expression}.{spark_identifier(name)}", part, depth=depth)
                for name, part in fields
            )
            return f"if({expression} IS NULL, NULL, struct({', '.join(parts)}))"
    return expression
