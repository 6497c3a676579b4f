"""Hints about layouts in the comments of a query: `/*+ no_layouts */`, `/*+ use_layout(name) */`.

Hints of others, such as Spark's own, are left alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_DUCKDB = re.compile(
    r"/\*|--[^\n]*|\"(?:[^\"]|\"\")*\"|\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'"
    r"|\$(\w*)\$.*?\$\1\$",
    re.DOTALL,
)
# in Spark a backslash escapes a quote, except in r'…', and "…" is a text too
_SPARK = re.compile(
    r"/\*|--[^\n]*|`(?:[^`]|``)*`|\b[rR](?:'[^']*'|\"[^\"]*\")"
    r"|'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"",
    re.DOTALL,
)
_BRACKET = re.compile(r"/\*|\*/")
_NAME = r"`[^`]+`|\"[^\"]+\"|'[^']+'|[^\s,()`\"']+"
_HINT = re.compile(rf"(?P<word>\w+)(?:\s*\(\s*(?P<name>{_NAME})?[^)]*\))?|(?P<other>[^\s,])")
_OFF, _USE = "no_layouts", "use_layout"


@dataclass(frozen=True)
class LayoutHints:
    """What a query asks of layouts: none (`off`), or this one (`use`) whatever it costs."""

    off: bool = False
    use: str | None = None


def layout_hints(sql: str, *, spark: bool = False) -> LayoutHints:
    """The hints in the comments of a query; of several layouts the first counts."""
    comments = _hint_comments(sql, spark=spark)
    found = [one for start, end in comments for one in _hints(sql, start, end)]
    used = [name for word, name in found if word == _USE and name]
    return LayoutHints(any(word == _OFF for word, _ in found), used[0] if used else None)


def without_layout_hints(sql: str, *, spark: bool = False) -> str:
    """The text with comments that hold nothing but hints about layouts blanked out.

    Spark knows them only after SELECT. Everything else stays where it is.
    """
    for start, end in _hint_comments(sql, spark=spark):
        words = {word for word, _ in _hints(sql, start, end)}
        if words and words <= {_OFF, _USE}:
            sql = sql[:start] + re.sub(r"[^\r\n]", " ", sql[start:end]) + sql[end:]
    return sql


def _hints(sql: str, start: int, end: int) -> Iterator[tuple[str, str]]:
    """Each hint of a comment: its word in lower case, and the first name in brackets."""
    for hint in _HINT.finditer(sql, start + 3, end - 2):
        yield (hint["word"] or hint["other"]).lower(), (hint["name"] or "").strip("`\"'")


def _hint_comments(sql: str, *, spark: bool) -> Iterator[tuple[int, int]]:
    """Where the comments are that begin with `/*+`; texts and quoted names are skipped."""
    if "/*+" not in sql:
        return
    pattern, at = _SPARK if spark else _DUCKDB, 0
    while found := pattern.search(sql, at):
        at = found.end()
        if found[0] == "/*":
            at = _end_of_comment(sql, found.start())
            if sql.startswith("/*+", found.start()) and sql.endswith("*/", 0, at):
                yield found.start(), at


def _end_of_comment(sql: str, start: int) -> int:
    """Comments nest in both dialects; one without an end goes on to the end of the text."""
    depth = 0
    for bracket in _BRACKET.finditer(sql, start):
        depth += 1 if bracket[0] == "/*" else -1
        if not depth:
            return bracket.end()
    return len(sql)
