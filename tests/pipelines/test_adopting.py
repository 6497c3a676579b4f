"""Folders of Parquet files that become tables: all readers see their rows, and whatever Lakebed
does later, the files stay their owner's.
"""

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from lakebed.errors import BadFiles, GateFailed, NameTaken
from lakebed.ports import AddedFile
from lakebed.tables.adopting.look import FoundFolder
from tests.support.kills import check_healed, let_die
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import rotated
from tests.support.tables import snapshots_of

pytestmark = [pytest.mark.spark]

INCOME = "shop.bronze.income"
COLUMNS = ("id", "name", "price", "day", "seen", "xs", "year", "kind")
QUERY = f"SELECT {', '.join(COLUMNS)} FROM {INCOME} ORDER BY id"
RENAMED = """
SELECT id, 'new' AS name, price, day, seen, xs, year, kind FROM {{ this }} WHERE id = 1
"""
MERGED = """\
merge_strategy: incremental
unique_key: id
care: {compact_min_files: 2, compact_small_ratio: 0}
"""


@pytest.fixture(autouse=True)
def without_polars_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")


def write_folder(folder: Path, *, times: int = 1) -> Path:
    """What DuckDB makes of rows by year and kind: neither is in its files, years may be NULL, and
    kinds need escapes. Ten rows each time, in a file for each partition.
    """
    for first in range(1, 10 * times, 10):
        write_rows(folder, first)
    return folder


def write_rows(folder: Path, first: int) -> None:
    query = f"""
        SELECT i AS id, 'name ' || i AS name, (i * 1.25)::DECIMAL(10, 2) AS price,
               DATE '2020-01-01' + i::INTEGER AS day,
               TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (i) SECOND AS seen, [i, i + 1] AS xs,
               CASE WHEN i % 5 = 0 THEN NULL ELSE 2020 + i % 2 END AS year,
               CASE WHEN i % 2 = 0 THEN 'a b/c' ELSE 'ü:%' END AS kind
        FROM range({first}, {first + 10}) t(i)"""
    with duckdb.connect() as connection:
        options = "FORMAT parquet, PARTITION_BY (year, kind), APPEND"
        connection.execute(f"COPY ({query}) TO '{folder}' ({options})")


def expected(folder: Path) -> list[tuple[Any, ...]]:
    """What DuckDB reads of the folder itself."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        source = f"read_parquet('{folder}/**/*.parquet', hive_partitioning = true)"
        found = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM {source} ORDER BY id")
        return [tuple(row.values()) for row in found.to_arrow_table().to_pylist()]


def hashes(folder: Path) -> dict[str, str]:
    """Every file in a folder, and what is in it."""
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }


def readers(shop: TestLake) -> dict[str, Callable[[], list[tuple[Any, ...]]]]:
    """The rows of the table as each engine sees them."""
    import polars

    lake, table = shop.lake, shop.lake.iceberg.load_table(tuple(INCOME.split(".")))

    def plain(rows: pa.Table) -> list[tuple[Any, ...]]:
        found = rows.select(list(COLUMNS)).sort_by("id").to_pylist()
        return [tuple(row.values()) for row in found]

    return {
        "DuckDB": lambda: plain(lake.query(QUERY).to_arrow()),
        "DuckDB, pruned": lambda: plain(
            lake.query(f"FROM {INCOME} WHERE (year > 2019 OR year IS NULL) AND id > 0").to_arrow()
        ),
        "Spark": lambda: plain(lake.query(QUERY, engine="spark").to_arrow()),
        "PyIceberg": lambda: plain(table.scan().to_arrow()),
        "Polars": lambda: plain(polars.scan_iceberg(table).collect().to_arrow()),
        "Polars, by Lakebed": lambda: plain(lake.table(INCOME).to_polars().to_arrow()),
    }


def later(days: float) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


@pytest.mark.filterwarnings("ignore:Parquet writer option")
def test_the_files_of_an_adopted_folder_outlive_compaction_expiry_drop_and_purge(
    shop: TestLake, tmp_path: Path
) -> None:
    lake, folder = shop.lake, write_folder(tmp_path / "exports", times=6)
    for name in ("_SUCCESS", ".data.crc", "notes.txt"):
        (folder / name).write_text("not a row")
    before, rows = hashes(folder), expected(folder)
    record = lake.adopt(folder, INCOME)
    assert record.rows == {"result": 60, "inserted": 60, "total": 60}
    made = [one.run_id for one in snapshots_of(lake, shop.table("bronze.income"))]
    assert made == [run.run_id for run in lake.runs.list(table=INCOME)] == [record.run_id]
    for name, read in readers(shop).items():
        assert read() == rows, name

    table = lake.iceberg.load_table(tuple(INCOME.split(".")))
    table.append(table.scan(row_filter="id = 7").to_arrow())
    shop.pipeline("bronze.income", RENAMED, MERGED)
    shop.run_one("bronze.income")
    lake.execute(f"DELETE FROM {INCOME} WHERE id = 2")
    counted = f"""
        SELECT count(*), count(DISTINCT id), max(CASE WHEN name = 'new' THEN id END) FROM {INCOME}
    """
    assert list(lake.query(counted)) == [(60, 59, 1)]
    assert list(lake.query(counted, engine="spark")) == [(60, 59, 1)]

    compacted = lake.care(only=["compact_files"])
    assert [entry.state for entry in compacted.entries] == ["done"]
    assert list(lake.query(counted)) == [(60, 59, 1)]
    lake.tables.rollback(INCOME, str(record.snapshot))
    for name, read in readers(shop).items():
        assert read() == rows, name

    lake.execute(f"DELETE FROM {INCOME} WHERE id > 3")
    with pytest.raises(Exception, match="GC is disabled"):  # nor does plain Spark
        lake.spark.sql(f"CALL lake.system.expire_snapshots(table => '{INCOME}')")
    expired = lake.care(only=["expire_snapshots"], now=later(30))
    assert [entry.state for entry in expired.entries] == ["done"]
    assert len(lake.tables.describe(INCOME).snapshots) == 1
    assert hashes(folder) == before
    lake.tables.drop(INCOME)
    purged = lake.care(now=later(60), orphans=True)
    assert "purge_dropped" in [entry.action for entry in purged.entries if entry.state == "done"]
    assert hashes(folder) == before
    assert [file for file in shop.files() if file.endswith((".parquet", ".avro"))] == []


def test_a_rewrite_copies_the_rows_and_needs_the_folder_no_more(
    shop: TestLake, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "exports")
    before, rows = hashes(folder), expected(folder)
    shop.lake.adopt(folder, INCOME, rewrite=True)
    assert hashes(folder) == before
    for file in folder.rglob("*.parquet"):
        file.unlink()
    for name, read in readers(shop).items():
        assert read() == rows, name
    metadata = shop.lake.tables.describe(INCOME)
    assert (metadata.partition_by, metadata.adopted_from) == (("year", "kind"), "")


def test_values_stay_with_their_column_when_another_takes_its_name(
    shop: TestLake, tmp_path: Path
) -> None:
    lake = shop.lake
    lake.adopt(write_folder(tmp_path / "exports"), INCOME)
    lake.execute(f"ALTER TABLE {INCOME} RENAME COLUMN name TO label")
    lake.execute(f"ALTER TABLE {INCOME} ADD COLUMN name STRING")
    lake.execute(f"ALTER TABLE {INCOME} DROP COLUMN xs")
    lake.write(
        INCOME,
        pa.table({"id": [99], "name": ["own"], "xs": ["text"]}),
        on_schema_change="append",
    )
    wanted = [(1, "name 1", None, None), (99, None, "own", "text")]
    query = f"SELECT id, label, name, xs FROM {INCOME} WHERE id IN (1, 99) ORDER BY id"
    assert list(lake.query(query)) == wanted
    assert list(lake.query(query, engine="spark")) == wanted
    loaded = lake.iceberg.load_table(tuple(INCOME.split(".")))
    found = loaded.scan(row_filter="id in (1, 99)").to_arrow().sort_by("id").to_pylist()
    names = ("id", "label", "name", "xs")
    assert [tuple(row[name] for name in names) for row in found] == wanted


BOUNDARIES = [
    ("before", "ReadFolder"),
    ("after", "CreateHidden"),
    ("after", "TakeFiles"),
    ("before", "Publish"),
]


@pytest.mark.parametrize(("when", "step"), rotated(BOUNDARIES, 1))
def test_an_adoption_killed_half_way_leaves_no_table_and_the_next_one_succeeds(
    when: str, step: str, tmp_path: Path, spark_home: Path
) -> None:
    shop = TestLake(tmp_path / "lake", settings={"lease": {"limit_seconds": 1.0}})
    folder = write_folder(tmp_path / "exports")
    before, rows = hashes(folder), expected(folder)
    let_die("killed_adoption", str(shop.folder), str(folder), INCOME, when, step)
    assert [table for table in shop.lake.stores.catalog.pointers() if not table.hidden] == []
    shop.lake.adopt(folder, INCOME)
    check_healed(shop.lake, [shop.table("bronze.income")])
    assert readers(shop)["PyIceberg"]() == rows
    assert hashes(folder) == before
    shop.lake.close()


def test_an_adoption_that_is_refused_leaves_no_table_and_every_file(
    shop: TestLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, lake = write_folder(tmp_path / "exports"), shop.lake
    before = hashes(folder)
    gate = {"few": "SELECT * FROM {{ this }} WHERE id > 9"}
    shop.pipeline("bronze.income", "SELECT 1 AS id", gates=gate)
    with pytest.raises(GateFailed):
        lake.adopt(folder, INCOME)
    assert (lake.tables.list(), shop.hidden(), hashes(folder)) == ({}, [], before)

    added = FoundFolder.added

    def beside_a_writer(found: FoundFolder) -> Iterator[AddedFile]:
        write_rows(folder, 11)
        return added(found)

    monkeypatch.setattr(FoundFolder, "added", beside_a_writer)
    with pytest.raises(BadFiles, match="changed while it was adopted"):
        lake.adopt(folder, INCOME, gates=False)
    monkeypatch.undo()
    assert (lake.tables.list(), shop.hidden()) == ({}, [])

    lake.adopt(folder, INCOME, gates=False)
    assert readers(shop)["DuckDB"]() == expected(folder)
    with pytest.raises(NameTaken, match="exists already"):
        lake.adopt(folder, INCOME)
