"""Which columns a state of a table has after an ALTER that committed no row: as Spark and PyIceberg
have it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.types import LongType

from lakebed.app import Lake
from lakebed.names import TableName
from lakebed.ports import Column, Snapshot, TableMetadata
from lakebed.tables import as_of_schema
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake

ROWS = pa.table(
    {"id": pa.array([1, 2], pa.int64()), "old": ["a", "b"], "gone": pa.array([7, 8], pa.int32())}
)
PRESENT = [{"id": 1, "new": "a", "more": None}, {"id": 2, "new": "b", "more": None}]


@dataclass
class Altered:
    """A table that was tagged and branched, and then got other columns."""

    lake: Lake
    table: TableName
    head: int

    def read(self, at: str | int | None) -> list[dict[str, object]]:
        """By SQL and as a frame, which agree."""
        found = self.lake.query(f"FROM {self.table} ORDER BY id", at=at).to_arrow()
        frame = self.lake.table(self.table, at=at)
        assert list(frame.columns) == found.column_names == frame.schema.names
        rows: list[dict[str, object]] = found.to_pylist()
        assert frame.to_arrow().sort_by("id").to_pylist() == rows
        return rows


@pytest.fixture
def altered(tmp_path: Path) -> Iterator[Altered]:
    lake = make_lake(tmp_path / "lake")
    bench = bench_of(lake)
    table = add_table(bench, "t", [ROWS], schema=ROWS.schema)
    loaded = bench.iceberg.load_table(table.parts)
    head = loaded.metadata.current_snapshot_id
    assert head
    loaded.manage_snapshots().create_tag(head, "tagged").create_branch(head, "side").commit()
    with loaded.update_schema() as update:
        update.rename_column("old", "new")
        update.add_column("more", LongType())
        update.delete_column("gone")
    yield Altered(lake, table, head)
    lake.close()
    bench.close()


def test_a_snapshot_has_the_columns_it_was_written_with_though_it_is_the_present_one(
    altered: Altered,
) -> None:
    by_pyiceberg = (
        altered.lake.iceberg.load_table(altered.table.parts)
        .scan(snapshot_id=altered.head)
        .to_arrow()
    )
    assert by_pyiceberg.column_names == ["id", "old", "gone"]
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    for at in (altered.head, str(altered.head), "tagged", later):
        assert altered.read(at) == by_pyiceberg.sort_by("id").to_pylist()


@pytest.mark.parametrize("at", [None, "main", "side"])
def test_the_table_as_it_is_and_its_branches_have_the_present_columns(
    altered: Altered, at: str | None
) -> None:
    assert altered.read(at) == PRESENT


def test_one_query_may_read_the_same_snapshot_with_both(altered: Altered) -> None:
    then = f"{altered.table} AS b AT (VERSION => {altered.head})"
    sql = f"SELECT a.new, b.old, b.gone FROM {altered.table} a JOIN {then} USING (id) ORDER BY id"
    assert altered.lake.query(sql).fetchall() == [("a", "a", 7), ("b", "b", 8)]
    sql = f"FROM {altered.table} AT (VERSION => {altered.head}) WHERE old = 'a'"
    assert [row[0] for row in altered.lake.query(sql)] == [1]


def test_spark_is_asked_for_columns_by_their_ids_and_for_defaults() -> None:
    former = (Column("a b", "int", False, id=1), Column("gone", "string", False, id=2))
    present = (
        Column("c", "long", False, id=1),
        Column("l", "list<struct<x: timestamptz, y: fixed[2]>>", False, id=3),
        Column("at", "timestamp", False, id=4, default="2026-01-02T03:04:05"),
        Column("raw", "binary", False, id=5, default="00ff"),
        Column("yes", "boolean", False, id=6, default=True),
        Column("said", "string", False, id=7, default="it's"),
    )
    at = datetime(2026, 1, 1, tzinfo=UTC)
    snapshot = Snapshot(5, None, at, "append", {}, schema=0)
    metadata = TableMetadata(
        "u",
        "l",
        3,
        at,
        present,
        (),
        (),
        {},
        {5: snapshot},
        {},
        schema=1,
        schemas={0: former, 1: present},
    )
    assert as_of_schema(metadata, snapshot, 0) == ()
    assert as_of_schema(metadata, snapshot, 1) == (
        "CAST(`a b` AS bigint) AS `c`",
        "CAST(NULL AS array<struct<`x`:timestamp,`y`:binary>>) AS `l`",
        "CAST('2026-01-02T03:04:05' AS timestamp_ntz) AS `at`",
        "CAST(X'00ff' AS binary) AS `raw`",
        "CAST(true AS boolean) AS `yes`",
        r"CAST('it\'s' AS string) AS `said`",
    )
