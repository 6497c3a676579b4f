"""Conditions on the rows of one table: one expression that only the row decides."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.errors import BadPipeline, near, suggestion
from lakebed.errors.source_text import SourceText
from lakebed.names import spark_identifier
from lakebed.sql.checking.check import check_query
from lakebed.sql.checking.forbidden_words import refuse_unbalanced
from lakebed.sql.parsing.lexer import LexedText, Token, TokenKind, lex

if TYPE_CHECKING:
    from sqlglot import exp

_WHERE = "the condition"
_BEFORE = "SELECT * FROM rows WHERE (\n"

_SHOWN = 8  # columns in an error

_CHANCE = re.compile(
    "rand|randn|random|randstr|uniform|uuid|shuffle|monotonically_increasing_id|spark_partition_id"
    "|input_file_name|input_file_block_start|input_file_block_length",
    re.IGNORECASE,
)
_TIME = re.compile(
    "now|curdate|current_date|current_time|current_timestamp|localtimestamp", re.IGNORECASE
)
_TIME_WITHOUT_CALL = re.compile("current_date|current_time|current_timestamp", re.IGNORECASE)
_TIME_IN_TEXT = re.compile(r".\s*(now|today|tomorrow|yesterday)\s*.", re.IGNORECASE | re.DOTALL)
_TYPES_OF_TIME = {"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"}


@dataclass(frozen=True)
class RowCondition:
    """A condition that may run as it is, between brackets."""

    text: str  # without comments and final semicolon, with the same line numbers
    _names: tuple[tuple[int, int, str], ...]  # where the text names columns

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it uses, each once, as they were written."""
        found: dict[str, str] = {}
        for _, _, name in self._names:
            found.setdefault(name.casefold(), name)
        return tuple(found.values())

    def renamed(self, names: Mapping[str, str]) -> str:
        """The text with other names for columns."""
        folded = {old.casefold(): new for old, new in names.items()}
        text = self.text
        for start, end, name in reversed(self._names):
            if new := folded.get(name.casefold()):
                text = f"{text[:start]}{spark_identifier(new)}{text[end:]}"
        return text


def check_condition(
    text: str,
    *,
    columns: Collection[str] | None = None,
    functions: Collection[str] | None = None,
) -> RowCondition:
    """The condition in a text, or `BadPipeline` with the line.

    It may use the `columns` of one table, and nothing else that differs from row to row or from
    time to time: no other table, no clock, no chance. Without `columns` they are not checked.
    `functions` are those besides Spark's and Iceberg's; without it calls are not checked.
    """
    written = lex(SourceText(text, _WHERE))
    if not written.plain:
        raise written.source.error_at(
            "there is no condition.", next="Write one, or leave it out to replace all rows."
        )
    refuse_unbalanced(written.source, written.tokens)
    own = written.bare[: written.end]
    tree, reading = _parsed(written, own, functions)
    _refuse_more_than_a_row(reading, tree)
    _refuse_changing(reading)
    condition = RowCondition(own, tuple(_named(reading, tree)))
    if columns is not None:
        _refuse_unknown_columns(written, condition, columns)
    return condition


def _parsed(
    written: LexedText, own: str, functions: Collection[str] | None
) -> "tuple[exp.Expr, LexedText]":
    """The condition, read as the WHERE of a query."""
    from lakebed.sql.parsing.parse import parse

    query, lines = f"{_BEFORE}{own}\n)", own.count("\n") + 1
    try:
        check_query(query, where=_WHERE, line_of=_own_line, functions=functions)
    except BadPipeline as error:
        if error.line is not None and error.line > lines:  # it stopped at our own bracket
            raise written.source.error_at(
                "the condition cannot end here.", at=written.end - 1, next="Complete it."
            ) from None
        if "{{" in error.next:  # there is no template
            error.next = "Write the value itself."
        raise
    reading = lex(SourceText(query, _WHERE, _own_line))
    return parse(reading).args["where"].this, reading


def _own_line(line: int) -> int:
    return line - 1


def _refuse_more_than_a_row(reading: LexedText, tree: "exp.Expr") -> None:
    from sqlglot import exp

    from lakebed.sql.checking.tree import place

    for node in tree.walk():
        if isinstance(node, exp.Query | exp.Table):
            what, next = "a condition reads no other table.", "Write the values themselves."
        elif isinstance(node, exp.AggFunc | exp.Window | exp.Explode | exp.UDTF):
            what = "a condition is about one row: it has no aggregates, windows or generators."
            next = "Compute the value first, and write it here."
        elif isinstance(node, exp.Tuple) and isinstance(node.parent, exp.Paren | exp.Where):
            what, next = "this is not one condition.", "Join conditions with AND or OR."
        else:
            continue
        raise reading.source.error_at(what, at=place(node), next=next)


def _refuse_changing(reading: LexedText) -> None:
    """The condition is asked several times, and must give the same answer each time."""
    tokens = reading.plain
    for index, token in enumerate(tokens):
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        call = token.is_name and after is not None and after.upper == "("
        if call and _CHANCE.fullmatch(token.name):
            what, next = f"{token.name}() gives another value each time.", "Leave it out."
        elif _tells_time(tokens, index, call=call):
            what, next = "the time goes on while the rows are written.", "Write the time itself."
        else:
            continue
        raise reading.source.error_at(what, at=token.start, next=next)


def _tells_time(tokens: Sequence[Token], index: int, *, call: bool) -> bool:
    token = tokens[index]
    if call:
        empty = [after.upper for after in tokens[index + 1 : index + 3]] == ["(", ")"]
        return bool(_TIME.fullmatch(token.name)) or (
            token.name.casefold() == "unix_timestamp" and empty
        )
    before = tokens[index - 1].upper if index else ""
    if token.kind is TokenKind.STRING:
        return before in _TYPES_OF_TIME and bool(_TIME_IN_TEXT.fullmatch(token.text))
    # in backticks it can only be a column: unknown ones are refused
    bare = token.kind is TokenKind.WORD and before != "."
    return bare and bool(_TIME_WITHOUT_CALL.fullmatch(token.name))


def _refuse_unknown_columns(
    written: LexedText, condition: RowCondition, columns: Collection[str]
) -> None:
    known = {name.casefold() for name in columns}
    for start, _, name in condition._names:
        if name.casefold() not in known:
            there = ", ".join(list(columns)[:_SHOWN]) + (" …" if len(columns) > _SHOWN else "")
            raise written.source.error_at(
                f"there is no column {name}.",
                at=start,
                next=suggestion(near(name, columns)) or f"There are: {there}.",
            )


def _named(reading: LexedText, tree: "exp.Expr") -> Iterator[tuple[int, int, str]]:
    """The first name of each `a` and `a.b`, in text order, with its place in the condition."""
    from sqlglot import exp

    from lakebed.sql.checking.tree import place

    starts = {place(column) for column in tree.find_all(exp.Column)}
    for start in sorted(starts):
        token = reading.plain[reading.index_at[start]]
        yield token.start - len(_BEFORE), token.end - len(_BEFORE), token.name
