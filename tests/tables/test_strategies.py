"""Every strategy on real Spark and Iceberg, against the oracle."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from lakebed.errors import BadBatch
from lakebed.names import spark_identifier
from lakebed.ports import Field
from lakebed.settings import Settings
from lakebed.tables.keys import key_check, offences, offending_keys, refuse_batch, row_counts, tie_check
from lakebed.tables.merge import write_statement
from lakebed.tables.strategies import (
    AppendOnly,
    DeleteInsert,
    FullRefresh,
    Incremental,
    Scd2,
    Snapshot,
    SoftDelete,
    Strategy,
)
from tests.conftest import SCALE
from tests.engines.spark.lakes import new_lake
from tests.spark_sessions import OpenSpark
from tests.tables.oracle import Row, Rows, expected, fit_part, judged, refusals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHAPES = ("fit", "empty", "any", "fit") * SCALE
STAGED = "lake.`shop`.`silver`.`_stage`"
ONLY_HERE = "only here"  # a column that the table has and no batch

PLAIN = (
    Field("id", "bigint"),
    Field("day", "date"),
    Field("at", "int"),
    Field("name", "string"),
    Field("tags", "map<string,int>"),
)
ODD = (
    Field("s", "bigint"),
    Field("a.b`c#", "date"),
    Field("select", "int"),
    Field("_mark", "string"),
    Field("_place", "array<int>"),
)


@dataclass(frozen=True)
class Lab:
    """A table, on a branch of its own or not, and what is done to it."""

    spark: "SparkSession"
    table: str
    target: str
    fields: tuple[Field, ...]

    def rows(self, query: str) -> Rows:
        return [row.asDict(recursive=True) for row in self.spark.sql(query).collect()]

    def create(self, columns: Sequence[Field], *, branch: bool) -> None:
        listed = ", ".join(f"{spark_identifier(column.name)} {column.type}" for column in columns)
        self.spark.sql(f"CREATE TABLE {self.table} ({listed}) USING iceberg")
        if branch:
            self.spark.sql(f"ALTER TABLE {self.table} CREATE BRANCH run_1")

    @property
    def columns(self) -> list[str]:
        return self.spark.table(self.target).columns

    def put(self, rows: Rows) -> None:
        """Rows that come by no run."""
        values = [tuple(row[column] for column in self.columns) for row in rows]
        self.spark.createDataFrame(values, self.spark.table(self.target).schema).writeTo(self.target).append()

    def stage(self, batch: Rows) -> None:
        schema = ", ".join(f"{spark_identifier(field.name)} {field.type}" for field in self.fields)
        frame = self.spark.createDataFrame([tuple(row[f.name] for f in self.fields) for row in batch], schema)
        frame.writeTo(STAGED).using("iceberg").createOrReplace()

    def check(self, strategy: Strategy) -> dict[str, int]:
        """What a run asks of a staged batch."""
        asked = key_check(strategy, staged=STAGED)
        counts: dict[str, int] = self.rows(asked)[0] if asked else {}
        ties = tie_check(strategy, counts, staged=STAGED, columns=self.fields)
        return counts | (self.rows(ties)[0] if ties else {})

    def write(self, strategy: Strategy, *, now: str, repeats: bool = True) -> None:
        literal = f"TIMESTAMP '{now}'"
        text = write_statement(strategy, target=self.target, staged=STAGED, columns=self.fields, now=literal, repeats=repeats)
        if text:
            self.spark.sql(text)
            return
        from pyspark.sql.functions import lit

        lacking = lit(None).cast("string").alias(ONLY_HERE)
        writer = self.spark.table(STAGED).select("*", lacking).writeTo(self.target)
        writer.append() if isinstance(strategy, AppendOnly) else writer.overwrite(lit(True))

    def held(self) -> Rows:
        """The rows of the table; times as text."""
        columns = self.spark.table(self.target).schema
        shown = (
            f"CAST({spark_identifier(c.name)} AS STRING)" if c.dataType.typeName() == "timestamp" else spark_identifier(c.name)
            for c in columns
        )
        named = (f"{text} AS {spark_identifier(column.name)}" for text, column in zip(shown, columns, strict=True))
        return self.rows(f"SELECT {', '.join(named)} FROM {self.target}")

    def summary(self) -> Mapping[str, str]:
        query = f"SELECT summary FROM {self.table}.snapshots ORDER BY committed_at DESC LIMIT 1"
        return dict(self.rows(query)[0]["summary"])


@pytest.fixture
def spark(open_spark: OpenSpark, tmp_path: Path) -> "SparkSession":
    session = open_spark(Settings(), new_lake(tmp_path / "lake"))
    for namespace in ("lake.shop", "lake.shop.silver"):
        session.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
    return session


def lab(spark: "SparkSession", strategy: Strategy, fields: tuple[Field, ...], *, branch: bool = True, more: str = "") -> Lab:
    table = "lake.`shop`.`silver`.`t`"
    made = Lab(spark, table, f"{table}.`branch_run_1`" if branch else table, fields)
    extra = [Field(more, "string")] if more else []
    made.create([*fields, *extra, *(Field(*own) for own in strategy.own_columns)], branch=branch)
    return made


def in_order(rows: Rows) -> list[str]:
    """Rows in an order of their own, maps too."""
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)


def random_row(rng: Random, fields: Sequence[Field]) -> Row:
    values: dict[str, Any] = {
        "bigint": rng.choice([*range(15), None]),
        "date": rng.choice([date(2026, 1, 1), date(2026, 1, 2), None if rng.random() < 0.2 else date(2026, 1, 3)]),
        "int": rng.choice([None, 1, 2, 3, 4]),
        "string": rng.choice([None, "", "a", "b"]),
        "map<string,int>": rng.choice([None, {}, {"x": 1, "y": None}, {"y": None, "x": 1}, {"x": 2}]),
        "array<int>": rng.choice([None, [], [None, 1], [1, None]]),
    }
    return {field.name: values[field.type] for field in fields}


def random_batch(rng: Random, strategy: Strategy, fields: Sequence[Field], shape: str) -> Rows:
    batch = [random_row(rng, fields) for _ in range(rng.randint(12, 36))] if shape != "empty" else []
    batch += [dict(row) for row in batch if rng.random() < 0.2]
    return fit_part(strategy, batch) if shape == "fit" else batch


def random_start(rng: Random, strategy: Strategy, columns: Sequence[Field]) -> Rows:
    """Rows that somebody wrote by hand: with repeated and NULL keys, and with values where no batch has any."""
    own = dict.fromkeys(name for name, _ in strategy.own_columns)
    return [random_row(rng, columns) | {ONLY_HERE: "kept"} | own for _ in range(8)]


# Beside each strategy the columns of its batches, and whether its table begins with rows written by hand.
CASES: dict[str, tuple[Strategy, tuple[Field, ...], bool]] = {
    "full_refresh": (FullRefresh(), PLAIN, True),
    "append_only": (AppendOnly(), ODD, False),
    "incremental": (Incremental(unique_key=("s", "a.b`c#")), ODD, True),
    "incremental in order": (Incremental(unique_key=("id", "day"), watermark_column="at"), PLAIN, False),
    "delete_insert": (DeleteInsert(unique_key=("id", "day")), PLAIN, False),
    "delete_insert of one key": (DeleteInsert(unique_key=("s",)), ODD, True),
    "snapshot": (Snapshot(partition_column="day"), PLAIN, False),
    "snapshot of odd names": (Snapshot(partition_column="a.b`c#"), ODD, True),
    "scd2": (Scd2(unique_key=("id",)), PLAIN, True),
    "scd2 in order": (Scd2(unique_key=("s",), watermark_column="select", scd_valid_from="h", scd_valid_to="b"), ODD, False),
    "scd2 that closes": (Scd2(unique_key=("id", "day"), watermark_column="at", scd_close_absent=True), PLAIN, True),
    "soft_delete": (SoftDelete(unique_key=("id",)), PLAIN, False),
    "soft_delete in order": (SoftDelete(unique_key=("s", "a.b`c#"), watermark_column="select"), ODD, True),
}


@pytest.mark.spark
@pytest.mark.parametrize("name", CASES)
def test_every_strategy_agrees_with_its_oracle(spark: "SparkSession", name: str) -> None:
    strategy, fields, by_hand = CASES[name]
    rng, rows = Random(name), Rows()
    bench = lab(spark, strategy, fields, branch=not by_hand, more=ONLY_HERE)
    if by_hand:
        rows = random_start(rng, strategy, fields)
        bench.put(rows)
    for number, shape in enumerate(SHAPES):
        batch = random_batch(rng, strategy, fields, shape)
        bench.stage(batch)
        counts, meant, bad = bench.check(strategy), judged(strategy, batch), refusals(strategy, batch)
        assert counts == {word: meant[word] for word in counts}
        assert set(offences(strategy, counts)) == bad
        if bad:
            refuse(bench, strategy, counts)
            continue
        now = f"2026-01-01 00:00:00.{number:05}1"
        bench.write(strategy, now=now, repeats=counts.get("keys") != counts.get("rows"))
        before, rows = len(rows), expected(strategy, rows, batch, columns=bench.columns, now=now)
        assert in_order(bench.held()) == in_order(rows), (number, batch)
        assert len(rows) - before == grown(row_counts(strategy, bench.summary(), staged_rows=len(batch), distinct_keys=None))


def grown(counts: Mapping[str, int]) -> int:
    return counts["inserted"] - (0 if "updated" in counts else counts["deleted"])


def refuse(bench: Lab, strategy: Strategy, counts: Mapping[str, int]) -> None:
    examples = bench.rows(offending_keys(strategy, counts, staged=STAGED, columns=bench.fields))
    assert {example["offence"] for example in examples} == set(offences(strategy, counts))
    with pytest.raises(BadBatch):
        refuse_batch(strategy, counts, examples, table="shop.silver.t")
