"""The tables that a query reads, and whether they are among those it was given."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp

from lakebed.errors import BadPipeline, near, suggestion
from lakebed.errors.source_text import SourceText
from lakebed.sql.checking.forbidden_words import (
    is_format,
    is_path,
    paths_are_no_tables,
    reads_table,
)
from lakebed.sql.checking.tree import place
from lakebed.sql.parsing.lexer import LexedText, Token, lex

_FUNCTIONS_WITH_FROM = {"EXTRACT", "SUBSTR", "SUBSTRING", "TRIM", "OVERLAY"}
_NO_TABLE = {"SELECT", "VALUES", "LATERAL", "VIEW", "WITH", "FROM"}


@dataclass(frozen=True)
class AllowedTable:
    """A table as a template wrote it: its name, and the version it is pinned to, if any."""

    text: str
    parts: tuple[str, ...]
    rest: tuple[str, ...]  # VERSION AS OF 5, in upper case

    @classmethod
    def of(cls, text: str) -> "AllowedTable":
        reading = lex(SourceText(text, "allowed"))
        names = reading.chain(reading.plain[0].start if reading.plain else 0)
        rest = [token for token in reading.plain if token.start >= (names[-1].end if names else 0)]
        return cls(
            text, tuple(token.name for token in names), tuple(token.text.upper() for token in rest)
        )

    def matches(self, names: tuple[Token, ...], after: tuple[Token, ...]) -> bool:
        """Whether the query names this table, at its version if it is pinned."""
        same = tuple(token.name for token in names) == self.parts
        return same and tuple(token.text.upper() for token in after[: len(self.rest)]) == self.rest


def scanned_tables(
    reading: LexedText, tree: exp.Expr, allowed: Collection[str] | None
) -> tuple[str, ...]:
    """Every table that is read, once, in text order; refused unless allowed."""
    given = None if allowed is None else [AllowedTable.of(text) for text in allowed]
    scans = sorted(_scans(reading, tree), key=lambda names: names[0].start)
    _refuse_unseen(reading, {names[0].start for names in scans} | _temporary(tree))
    return tuple(dict.fromkeys(_one(reading, names, given) for names in scans))


def _scans(reading: LexedText, tree: exp.Expr) -> Iterator[tuple[Token, ...]]:
    for table in tree.find_all(exp.Table):
        if is_function(table) or is_cte(table):
            continue
        names = reading.chain(place(table.parts[0]))
        if [part.name for part in table.parts] != [token.name for token in names]:
            raise reading.source.error_at(
                "this name cannot be checked.", at=place(table), next="Write it in a simpler way."
            )
        yield names


def is_function(table: exp.Table) -> bool:
    """Whether it is a call of a table function."""
    return isinstance(table.this, exp.Func) and not isinstance(table.this, exp.Dot)


def is_cte(table: exp.Table) -> bool:
    """Whether it names a CTE that is in scope, as Spark resolves it: not in itself, not before its
    definition.
    """
    node: exp.Expr = table
    while len(table.parts) == 1 and (parent := node.parent) is not None:
        if isinstance(parent, exp.With):
            listed = parent.expressions
            seen = listed[: listed.index(node) + bool(parent.args.get("recursive"))]
        else:
            ctes = parent.args.get("with_")
            seen = ctes.expressions if ctes and node is not ctes else []
        if any(cte.alias.casefold() == table.name.casefold() for cte in seen):
            return True
        node = parent
    return False


def _one(reading: LexedText, names: tuple[Token, ...], given: list[AllowedTable] | None) -> str:
    source, written = reading.source, ".".join(token.name for token in names)
    if given is None:
        if error := _wrong_name(source, names):
            raise error
        return source.text[names[0].start : names[-1].end]
    after = reading.plain[reading.index_at[names[-1].start] + 1 :]
    for table in given:
        if table.matches(names, after):
            return table.text
    if error := _wrong_name(source, names):
        raise error
    known = {".".join(table.parts): table.text for table in given}
    advice = (
        "Read tables through {{ ref('…') }}, so that their snapshots are pinned and they run first."
    )
    close = suggestion(near(written, known))
    raise source.error_at(
        f"{written} was not given to this query.",
        at=names[0].start,
        next=f"{advice} {close}".strip(),
    )


def _wrong_name(source: SourceText, names: tuple[Token, ...]) -> BadPipeline | None:
    """The error for a name that means files: csv.`x`, a data source class, or a path in the
    catalog.
    """
    first = names[0].name
    if any(is_path(token.name) for token in names):
        return paths_are_no_tables(source, names[0])
    if len(names) == 2 and (is_format(first) or "." in first):
        return paths_are_no_tables(source, names[0])
    if len(names) == 1 and first.casefold() == "stream":
        return source.error_at(
            "a stream cannot be read by a run.", at=names[0].start, next="Read the table itself."
        )
    return None


def _temporary(tree: exp.Expr) -> set[int]:
    """The offsets at which unqualified names are read, CTEs among them."""
    return {
        place(table.parts[0])
        for table in tree.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier)
    }


def _refuse_unseen(reading: LexedText, seen: set[int]) -> None:
    """After FROM, JOIN and LATERAL Spark reads a table: it must be in the tree too."""
    opened: list[str] = []
    tokens = reading.plain
    for index, token in enumerate(tokens):
        before = tokens[index - 1].upper if index else ""
        if token.upper == "(":
            opened.append(before)
        elif token.upper == ")":
            opened.pop()
        elif token.upper in ("JOIN", "LATERAL") or (
            token.upper == "FROM" and before != "DISTINCT" and not _is_argument(opened)
        ):
            _refuse_unseen_after(reading, index + 1, before, seen)


def _is_argument(opened: list[str]) -> bool:
    return bool(opened) and opened[-1] in _FUNCTIONS_WITH_FROM


def _is_keyword(word: str, before: str) -> bool:
    """Whether it is a keyword, not a table.

    LATERAL VIEW follows a table; after FROM, VIEW is a table.
    """
    return word in _NO_TABLE and not (word == "VIEW" and before in ("FROM", "JOIN", ","))


def _refuse_unseen_after(reading: LexedText, index: int, before: str, seen: set[int]) -> None:
    tokens = reading.plain
    while index < len(tokens) and (tokens[index].upper == "(" or reads_table(tokens, index)):
        index += 1
    if (
        before == "."
        or index >= len(tokens)
        or not tokens[index].is_name
        or _is_keyword(tokens[index].upper, before)
    ):
        return
    names = reading.chain(tokens[index].start)
    after = reading.plain[reading.index_at[names[-1].start] + 1 :][:1] if names else ()
    if [token.upper for token in after] != ["("] and tokens[index].start not in seen:
        what = "this name cannot be checked."
        raise reading.source.error_at(
            what, at=tokens[index].start, next="Write it in a simpler way."
        )
