"""Every table that a query in Spark's SQL reads, with the conditions on its rows and the columns it
needs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from lakebed.ports import And, Column, Comparison, In, IsNull, Or, Predicate, StartsWith
from lakebed.query.ordering.spark_order import order_bound_calls
from lakebed.query.parsing.tree import MentionedColumns
from lakebed.query.spark_reads.column_tests import (
    ColumnTest,
    RowTest,
    built_from,
    has_only,
    weakened,
)
from lakebed.query.spark_reads.condition_flow import ConditionFlow, RowTests
from lakebed.query.spark_reads.needed_columns import (
    EVERY_COLUMN,
    mentioned_names,
    needed_columns,
)
from lakebed.query.spark_reads.query_names import (
    FindColumn,
    QuerySource,
    column_finder,
    merges_columns,
    select_over,
    sources_of,
)
from lakebed.query.spark_reads.spark_literals import spark_value
from lakebed.sql.checking.scans import is_cte, is_function
from lakebed.sql.checking.tree import place
from lakebed.sql.parsing.lexer import LexedText, Token

_NUMBERS = {"INTEGER", "DECIMAL", "DOUBLE", "BOOLEAN"}


@dataclass(frozen=True)
class SparkRead:
    """A table in a query: its name in the text, and what the query uses of it.

    `tests` hold for every row that it uses; `sources` are those of the same FROM.
    """

    table: exp.Table
    names: tuple[Token, ...]
    tests: RowTests = ()
    sources: tuple[QuerySource, ...] = ()
    merged: bool = False  # a join makes one column of two with the same name
    columns: MentionedColumns = EVERY_COLUMN

    @property
    def start(self) -> int:
        """Where the table's name begins in the text."""
        return self.names[0].start


def spark_reads(reading: LexedText, tree: exp.Expr) -> tuple[SparkRead, ...]:
    """Every table that a checked query reads, except queries of WITH.

    A name that cannot be found in the text is an error.
    """
    plain = [SparkRead(table, names) for table, names in _tables(reading, tree)]
    if "|>" in reading.bare:  # the parser rewrites such queries
        return tuple(plain)
    try:
        return tuple(_with_use(plain, reading, tree))
    except (RecursionError, AttributeError, TypeError):  # an unknown kind of tree: read whole
        return tuple(plain)


def _tables(reading: LexedText, tree: exp.Expr) -> Iterator[tuple[exp.Table, tuple[Token, ...]]]:
    for table in tree.find_all(exp.Table):
        if not is_function(table) and not is_cte(table):
            names = reading.chain(place(table.parts[0]))
            if [part.name for part in table.parts] != [token.name for token in names]:
                raise reading.source.error_at(
                    "this name cannot be checked.",
                    at=place(table),
                    next="Write it without comments.",
                )
            yield table, names


def _with_use(
    plain: Sequence[SparkRead], reading: LexedText, tree: exp.Expr
) -> Iterator[SparkRead]:
    flow = ConditionFlow(tree, through=not any(order_bound_calls(reading, tree)))
    names, starts = mentioned_names(tree), {id(read.table): read.start for read in plain}
    escaped = "\\" in reading.bare  # what it means depends on who reads it
    for read in plain:
        select = select_over(read.table)
        tests = flow.at(read.table) if _is_whole(read.table) else ()
        yield SparkRead(
            read.table,
            read.names,
            tuple(filter(None, map(_without_texts, tests))) if escaped else tests,
            tuple(
                QuerySource(one.alias_or_name, starts.get(id(one)))
                for one in (sources_of(select) if select else ())
            ),
            bool(select and merges_columns(select)),
            needed_columns(read.table, names),
        )


def _is_whole(table: exp.Table) -> bool:
    """Whether its rows are not sampled and its columns not renamed."""
    alias = table.args.get("alias")
    plain = has_only(table, "this", "db", "catalog", "alias", "version")
    return plain and (alias is None or has_only(alias, "this"))


def _without_texts(test: RowTest) -> RowTest | None:
    def leaf(one: ColumnTest) -> RowTest | None:
        return one if all(value.type in _NUMBERS for value in one.values) else None

    return weakened(test, leaf)


def spark_predicate(
    read: SparkRead, columns: Mapping[int, Sequence[Column]], *, timezone: str
) -> Predicate | None:
    """The conditions on a table's rows as a predicate, or a weaker one; None if there is none.

    `columns` are those of the tables whose rows are read as they are, by where their names begin;
    `timezone` is that of Spark's session.
    """
    if read.start not in columns:
        return None
    find = column_finder(read.start, read.sources, columns, merged=read.merged)

    def leaf(test: ColumnTest) -> Predicate | None:
        return _predicate(test, find, timezone)

    found = (built_from(test, leaf, _and, _or) for test in read.tests)
    parts = tuple(part for part in found if part is not None)
    return And(parts) if len(parts) > 1 else parts[0] if parts else None


def _and(parts: tuple[Predicate, ...]) -> Predicate:
    return And(parts)


def _or(parts: tuple[Predicate, ...]) -> Predicate:
    return Or(parts)


def _predicate(test: ColumnTest, find: FindColumn, timezone: str) -> Predicate | None:
    column = find(test.name)
    if column is None:
        return None
    found = [spark_value(value, column.type, timezone=timezone) for value in test.values]
    values = tuple(value for value in found if value is not None)
    if len(values) < len(found):
        return None
    match test.kind:
        case "is null" | "is not null":
            return IsNull(column.name, test.kind == "is not null")
        case "in" | "not in":
            return In(column.name, values, test.kind == "not in")
        case "starts with":
            return StartsWith(column.name, str(values[0])) if column.type == "string" else None
        case "between":
            parts = (
                Comparison(column.name, ">=", values[0]),
                Comparison(column.name, "<=", values[1]),
            )
            return And(parts)
        case "not between":
            parts = Comparison(column.name, "<", values[0]), Comparison(column.name, ">", values[1])
            return Or(parts)
    return Comparison(column.name, test.kind, values[0])
