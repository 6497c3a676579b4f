"""Queries as Spark reads them, and what counts for their tables."""

from collections.abc import Mapping, Sequence

from lakebed.errors.source_text import SourceText
from lakebed.ports import Column, Predicate
from lakebed.query.spark_reads.reads import SparkRead, spark_predicate, spark_reads
from lakebed.sql.checking.forbidden_words import refuse_words
from lakebed.sql.checking.tree import refuse_tree
from lakebed.sql.parsing.lexer import lex
from lakebed.sql.parsing.parse import parse

TABLES = {
    "a": (
        Column("id", "long", False),
        Column("n", "int", False),
        Column("s", "string", False),
        Column("day", "date", False),
    ),
    "b": (
        Column("id", "long", False),
        Column("n", "int", False),
        Column("x", "double", False),
        Column("yes", "boolean", False),
    ),
}


def reads_of(sql: str) -> tuple[SparkRead, ...]:
    reading = lex(SourceText(sql, "the query"))
    refuse_words(reading)
    tree = parse(reading)
    refuse_tree(reading, tree)
    return spark_reads(reading, tree)


def predicates_of(
    sql: str, tables: Mapping[str, Sequence[Column]] | None = None, *, timezone: str = "UTC"
) -> list[tuple[SparkRead, Predicate | None]]:
    """Each table of a query, and what counts for it; `tables` are the columns by name."""
    known = TABLES if tables is None else tables
    found = reads_of(sql)
    columns = {read.start: known[read.table.name] for read in found if read.table.name in known}
    return [(read, spark_predicate(read, columns, timezone=timezone)) for read in found]
