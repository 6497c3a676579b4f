"""A table on real Spark and Iceberg, and what a run does to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.names import spark_identifier
from lakebed.ports import Field
from lakebed.tables.merging.keys import key_check_query, tie_check_query
from lakebed.tables.merging.matches import match_check_query
from lakebed.tables.merging.merge import write_statement
from lakebed.tables.merging.strategies import AppendOnly, Strategy
from tests.tables.oracle import Row, Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = "lake.`shop`.`silver`.`t`"
STAGED = "lake.`shop`.`silver`.`_stage`"
ONLY_HERE = "only here"  # a column that the table has and no batch


@dataclass(frozen=True)
class Lab:
    """A table, or a branch of it, and one strategy by which batches of `fields` enter."""

    spark: "SparkSession"
    strategy: Strategy
    fields: tuple[Field, ...]
    branch: bool = True

    def __post_init__(self) -> None:
        own = (Field(*column) for column in self.strategy.own_columns)
        self.spark.sql(
            f"CREATE TABLE {TABLE} ({declared(*self.fields, Field(ONLY_HERE, 'string'), *own)})"
            " USING iceberg"
        )
        if self.branch:
            self.spark.sql(f"ALTER TABLE {TABLE} CREATE BRANCH run_1")

    @property
    def target(self) -> str:
        return f"{TABLE}.`branch_run_1`" if self.branch else TABLE

    @property
    def columns(self) -> list[str]:
        return self.spark.table(self.target).columns

    @property
    def blank(self) -> Row:
        return dict.fromkeys(self.columns)

    def rows(self, query: str) -> Rows:
        return [row.asDict(recursive=True) for row in self.spark.sql(query).collect()]

    def put(self, rows: Rows) -> None:
        """Rows that come by no run."""
        values = [tuple(row[column] for column in self.columns) for row in rows]
        self.spark.createDataFrame(values, self.spark.table(self.target).schema).writeTo(
            self.target
        ).append()

    def stage(self, batch: Rows) -> None:
        values = [tuple(row[field.name] for field in self.fields) for row in batch]
        self.spark.createDataFrame(values, declared(*self.fields)).writeTo(STAGED).using(
            "iceberg"
        ).createOrReplace()

    def check(self) -> dict[str, int]:
        """What a run asks of a staged batch."""
        asked = key_check_query(self.strategy, staged=STAGED)
        counts: dict[str, int] = self.rows(asked)[0] if asked else {}
        ties = tie_check_query(self.strategy, counts, staged=STAGED, columns=self.fields)
        return counts | (self.rows(ties)[0] if ties else {})

    def matches(self) -> dict[str, int]:
        """What a run asks of the table before it merges the batch."""
        asked = match_check_query(self.strategy, target=self.target, staged=STAGED)
        return dict(self.rows(asked)[0]) if asked else {}

    def statement(self, *, now: str, repeats: bool = True) -> str | None:
        literal = f"TIMESTAMP '{now}'"
        return write_statement(
            self.strategy,
            target=self.target,
            staged=STAGED,
            columns=self.fields,
            now=literal,
            repeats=repeats,
        )

    def write(self, *, now: str, repeats: bool = True) -> None:
        if text := self.statement(now=now, repeats=repeats):
            self.spark.sql(text)
            return
        from pyspark.sql.functions import lit

        lacking = lit(None).cast("string").alias(ONLY_HERE)
        writer = self.spark.table(STAGED).select("*", lacking).writeTo(self.target)
        writer.append() if isinstance(self.strategy, AppendOnly) else writer.overwrite(lit(True))

    def held(self) -> Rows:
        """The rows of the table; times as text."""
        own = {name for name, _ in self.strategy.own_columns}
        quoted = {name: spark_identifier(name) for name in self.columns}
        shown = (
            f"CAST({text} AS STRING) AS {text}" if name in own else text
            for name, text in quoted.items()
        )
        return self.rows(f"SELECT {', '.join(shown)} FROM {self.target}")

    def summary(self) -> Mapping[str, str]:
        """Of the last snapshot."""
        (found,) = self.rows(
            f"SELECT summary FROM {TABLE}.snapshots ORDER BY committed_at DESC LIMIT 1"
        )
        return dict(found["summary"])


def declared(*columns: Field) -> str:
    """Columns as CREATE TABLE lists them."""
    return ", ".join(f"{spark_identifier(column.name)} {column.type}" for column in columns)
