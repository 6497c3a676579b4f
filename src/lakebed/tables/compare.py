"""Whether two rows are the same, as text of Spark SQL. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence

from lakebed.names import spark_identifier
from lakebed.ports import Field

_NESTED = re.compile(r"\s*(array|map|struct)\s*<(.*)>.*", re.IGNORECASE | re.DOTALL)
_STRUCT_FIELD = re.compile(r"\s*(`(?:[^`]|``)*`|[^`:]+):(.*)", re.DOTALL)


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


def same(columns: Sequence[Field], one: str, other: str) -> str:
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
        value = comparable(f"{item}.value", tuple(_split(inner))[1], depth=depth + 1)
        return f"sort_array(transform(map_entries({expression}), {item} -> struct({item}.key, {value})))"
    parts = (comparable(f"{expression}.{name}", of, depth=depth) for name, of in map(_field, _split(inner)))
    return f"if({expression} IS NULL, NULL, struct({', '.join(parts)}))"


def _field(text: str) -> tuple[str, str]:
    """The name, quoted, and the type of a struct's field."""
    ((name, type),) = _STRUCT_FIELD.findall(text)
    return name if name.startswith("`") else spark_identifier(name), type


def _split(inner: str) -> Iterator[str]:
    """The parts of a nested type, cut at its own commas only."""
    depth, quoted, start = 0, False, 0
    for at, letter in enumerate(inner):
        quoted ^= letter == "`"
        if not quoted:
            depth += (letter in "<(") - (letter in ">)")
            if letter == "," and not depth:
                yield inner[start:at]
                start = at + 1
    yield inner[start:]
