"""Which tables somebody means."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import combinations

from lakebed.errors import BadName, UnknownName, UsageError
from lakebed.names import TableName, split_identifier


def resolve(text: str, known: Iterable[TableName], *, kind: str = "table") -> TableName:
    """The table of this name; its last part or parts suffice where they fit one table only."""
    tables = list(known)
    parts = split_identifier(text)
    found = [table for table in tables if table.ends_with(parts)]
    if len(found) > 1:
        raise UsageError(f"{text!r} fits several {kind}s: {', '.join(map(str, found))}.", next="Give the whole name.")
    if not found:
        if len(parts) > 3:
            raise BadName("table", text, "a table's name has three parts, namespace.layer.name")
        raise UnknownName(kind, text, {".".join(table.levels[-len(parts) :]) for table in tables})
    return found[0]


def matching(pattern: str | None, known: Iterable[TableName]) -> list[TableName]:
    """Tables whose name, or a part of it, is the pattern; `*` and `?` stand for anything. Hidden ones only if asked by name."""
    if pattern is None:
        return [table for table in known if not table.hidden]
    folded = pattern.casefold()
    return [table for table in known if _fits(table, folded)]


def _fits(table: TableName, pattern: str) -> bool:
    levels = [level.casefold() for level in table.levels]
    candidates = (".".join(levels[begin:end]) for begin, end in combinations(range(len(levels) + 1), 2))
    return any(fnmatchcase(candidate, pattern) for candidate in candidates)
