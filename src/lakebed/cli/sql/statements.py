"""The shell's text: where a statement ends, and what may be typed next. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

DOT_COMMANDS = {
    ".help": "show this help",
    ".tables": "list tables; .tables gold.* lists those that match",
    ".schema": "show show the columns of a table: .schema orders",
    ".at": "read all tables as of a snapshot, tag or time: .at 2026-11-01; .at now to go back",
    ".mode": "how results are shown: table, csv or json",
    ".timer": "whether to show how long queries take: .timer off",
    ".quit": "quit; so does Ctrl-D",
}
MODES = ("table", "csv", "json")
KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "QUALIFY", "LIMIT", "OFFSET",
    "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "ASOF JOIN", "ANTI JOIN",
    "SEMI JOIN", "ON", "USING", "WITH", "AS", "UNION ALL", "UNION", "EXCEPT", "INTERSECT",
    "DISTINCT", "CASE", "WHEN", "THEN", "ELSE", "END", "AND", "OR", "NOT", "IN", "IS NULL",
    "IS NOT NULL", "BETWEEN", "LIKE", "ILIKE", "EXISTS", "VALUES", "OVER", "PARTITION BY", "WINDOW",
    "FILTER", "EXCLUDE", "REPLACE", "ASC", "DESC", "NULLS FIRST", "NULLS LAST", "INTERVAL", "DATE",
    "TIMESTAMP", "CAST", "TRUE", "FALSE", "NULL",
)  # fmt: skip
_SKIPPED = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$|(?P<end>;)|(?P<open>['"]|/\*|\$\w*\$)|.""",
    re.DOTALL,
)
_WORD = re.compile(r'[\w."$-]*\Z')
_AFTER_TABLE_WORD = re.compile(r"(?:\bfrom|\bjoin|\btable|,)\s+[\w.\"$-]*\Z", re.IGNORECASE)
_BARE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_FROM = re.compile(r"\b(?:from|join)\s+([\w.\"$-]+)", re.IGNORECASE)


def split_statements(text: str) -> tuple[tuple[str, ...], str]:
    """The complete statements, and the rest. A semicolon in a string or comment ends nothing."""
    done: list[str] = []
    start = 0
    for found in _SKIPPED.finditer(text):
        if found["open"]:
            break
        if found["end"]:
            done.append(text[start : found.start()].strip())
            start = found.end()
    rest = text[start:].strip()
    return tuple(statement for statement in done if statement), "" if _is_comment(rest) else rest


def _is_comment(text: str) -> bool:
    return not re.sub(r"--[^\n]*(\n|\Z)|/\*.*?\*/", "", text, flags=re.DOTALL).strip()


@dataclass(frozen=True)
class Suggestion:
    """A word for the cursor's position, in place of the last `replaces` characters."""

    word: str
    replaces: int
    about: str = ""


def suggestions(
    text: str,
    tables: Sequence[str],
    columns: Callable[[str], Iterable[str]],
    functions: Iterable[str],
) -> Iterator[Suggestion]:
    """Commands after a dot, tables after FROM, otherwise columns, functions and keywords."""
    begun = _begun(text)
    if text.lstrip().startswith(".") and "\n" not in text.strip():
        yield from _dots(text.lstrip(), tables)
    elif _AFTER_TABLE_WORD.search(text) and not _in_select_list(text):
        yield from _tables(begun, tables)
    elif begun:
        yield from _columns(text, begun, columns)
        yield from _fitting(begun, (f"{name}(" for name in functions), "function")
        yield from _fitting(begun, KEYWORDS, "")
        yield from _tables(begun, tables)


def _begun(text: str) -> str:
    found = _WORD.search(text)
    return found[0] if found else ""


def _in_select_list(text: str) -> bool:
    """Whether the last comma is in a list of columns: no FROM since the last SELECT."""
    folded = text.casefold()
    return folded.rfind("select") > folded.rfind("from") and folded.rfind("select") > folded.rfind(
        "join"
    )


def _dots(text: str, tables: Sequence[str]) -> Iterator[Suggestion]:
    command, space, rest = text.partition(" ")
    if not space:
        yield from (
            Suggestion(name, len(command), about)
            for name, about in DOT_COMMANDS.items()
            if name.startswith(command)
        )
    elif command == ".schema":
        yield from _tables(rest.lstrip(), tables)
    elif command in (".mode", ".timer", ".at"):
        known = {".mode": MODES, ".timer": ("on", "off"), ".at": ("now",)}[command]
        yield from _fitting(rest.lstrip(), known, "")


def _tables(begun: str, tables: Sequence[str]) -> Iterator[Suggestion]:
    """Tables whose name, or last parts of it, start with the text; the full name is inserted."""
    wanted = begun.casefold().replace('"', "")
    for name in tables:
        parts = name.casefold().split(".")
        if any(".".join(parts[at:]).startswith(wanted) for at in range(len(parts))):
            yield Suggestion(quoted(name), len(begun), "table")


def quoted(name: str) -> str:
    """A table's name, quoted for SQL where needed."""
    return (
        name
        if '"' in name
        else ".".join(part if _BARE.fullmatch(part) else f'"{part}"' for part in name.split("."))
    )


def _columns(
    text: str, begun: str, columns: Callable[[str], Iterable[str]]
) -> Iterator[Suggestion]:
    wanted = begun.rpartition(".")[2]
    named = dict.fromkeys(found.replace('"', "") for found in _FROM.findall(text))
    for table in named:
        yield from _fitting(wanted, columns(table), f"column of {table}")


def _fitting(begun: str, words: Iterable[str], about: str) -> Iterator[Suggestion]:
    yield from (
        Suggestion(word, len(begun), about)
        for word in words
        if word.casefold().startswith(begun.casefold())
    )
