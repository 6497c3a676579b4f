"""Table names and patterns, matched against the tables there are. Pure."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import combinations

from lakebed.errors import BadName, UnknownName, UsageError
from lakebed.names import TableName, split_identifier


def find_by_name(text: str, known: Iterable[TableName], *, kind: str = "table") -> TableName:
    """The one table with this name, or whose name ends with it; near names are suggested when there
    is none.
    """
    tables = list(known)
    parts = split_identifier(text)
    found = [table for table in tables if table.ends_with(parts)]
    if len(found) > 1:
        raise UsageError(
            f"{kind} {text!r} is ambiguous: {', '.join(map(str, found))}.",
            next="Give the whole name.",
        )
    if not found:
        if len(parts) > 3:
            raise BadName("table", text, "a table's name has three parts, namespace.layer.name")
        shown = (table for table in tables if not table.hidden)
        raise UnknownName(kind, text, {".".join(table.levels[-len(parts) :]) for table in shown})
    return found[0]


def tables_matching(
    pattern: str | None, known: Iterable[TableName], *, hidden: bool = False
) -> list[TableName]:
    """Tables whose name, or part of it, matches a pattern with `*` and `?`; without a pattern, all.

    Hidden ones only if asked for, or if the pattern ends with the whole name of one.
    """
    folded = "*" if pattern is None else pattern.casefold()
    return [
        table
        for table in known
        if _matches(table, folded)
        and (hidden or not table.hidden or folded.endswith(table.name.casefold()))
    ]


def _matches(table: TableName, pattern: str) -> bool:
    levels = [level.casefold() for level in table.levels]
    candidates = (
        ".".join(levels[begin:end]) for begin, end in combinations(range(len(levels) + 1), 2)
    )
    return any(fnmatchcase(candidate, pattern) for candidate in candidates)
