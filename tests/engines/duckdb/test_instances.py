"""Queries of a process share a DuckDB and what it remembers of files; each sees its own state of a
table all the same.
"""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.app import Lake
from lakebed.engines.duckdb import DuckEngine
from lakebed.engines.duckdb.instance_pool import InstancePool
from lakebed.names import TableName
from lakebed.requests import QueryRequest
from tests.support.benches import ids
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake

SCHEMA = pa.schema([pa.field("id", pa.int64())])
FILES = 40


def lake_of_many_files(folder: Path, **values: object) -> tuple[Lake, TableName]:
    lake = make_lake(folder / "lake", **values)
    bench = bench_of(lake)
    table = add_table(
        bench, "many", [ids(range(first, first + 5)) for first in range(FILES)], schema=SCHEMA
    )
    bench.close()
    return lake, table


@pytest.fixture(scope="module")
def lake_and_table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lake, TableName]]:
    lake, table = lake_of_many_files(tmp_path_factory.mktemp("instances"))
    with lake:
        yield lake, table


def shared(lake: Lake) -> InstancePool:
    engine = lake.queries.engines.duckdb
    assert isinstance(engine, DuckEngine)
    return engine._pool(())


def spoil_footers(lake: Lake, table: TableName) -> None:
    """What is left of each file can be read by those who know its footer; nobody else can make
    anything of it.
    """
    for file in lake.table(table).scan().files:
        path = Path(file.location)
        content = path.read_bytes()
        size = int.from_bytes(content[-8:-4], "little") + 8
        path.write_bytes(content[:-size] + bytes(size))


def test_a_footer_is_read_once(tmp_path: Path) -> None:
    lake, table = lake_of_many_files(tmp_path)
    with lake:
        asked = f"SELECT count(*), sum(id) FROM {table}"
        first = lake.query(asked).fetchall()
        spoil_footers(lake, table)
        assert lake.query(asked).fetchall() == first
        assert lake.query(f"SELECT max(id) FROM {table} WHERE id > 3").fetchall() == [(FILES + 3,)]
        assert lake.table(table).to_arrow().num_rows == FILES * 5


FILE_QUERIES = [
    "SELECT sum(n) FROM '{file}'",
    "SELECT sum(n) FROM read_parquet('{file}')",
    "SELECT sum(n) FROM parquet_scan(['{file}'])",
    "SELECT sum(n) FROM '{folder}/*.parquet'",
    "SELECT sum(n) FROM {table}, '{file}' WHERE id = 0",
    "SELECT sum(n) FROM (SELECT n FROM '{file}' LIMIT 1000)",
    "WITH x AS (SELECT n FROM '{file}') SELECT (SELECT sum(n) FROM x)",
    "SELECT sum(n) FROM query_table('{file}')",
    "SELECT decode(value)::INT FROM parquet_kv_metadata('{file}') WHERE key = 'n'",
    "PIVOT '{file}' ON n USING sum(n)",
]


def write_ones(file: Path, count: int) -> None:
    pq.write_table(pa.table({"n": [1] * count}).replace_schema_metadata({"n": str(count)}), file)
    os.utime(file, ns=(10**18, 10**18))  # not even the time tells that it is another


@pytest.mark.parametrize("asked", FILE_QUERIES)
def test_a_file_that_was_written_anew_is_read_anew(
    tmp_path: Path, lake_and_table: tuple[Lake, TableName], asked: str
) -> None:
    lake, table = lake_and_table
    file = tmp_path / "x.parquet"
    sql = asked.format(file=file, folder=tmp_path, table=table)
    for number in (41, 42):
        write_ones(file, number)
        assert lake.query(sql).fetchall() == [(number,)]


def test_a_relation_reads_files_anew(
    tmp_path: Path, lake_and_table: tuple[Lake, TableName]
) -> None:
    lake, table = lake_and_table
    file = tmp_path / "x.parquet"
    relation = lake.table(table).to_duckdb()
    for number in (41, 42):
        write_ones(file, number)
        assert relation.query("t", f"SELECT sum(n) FROM t, '{file}' WHERE id = 0").fetchall() == [
            (number,)
        ]


def test_what_is_remembered_of_tables_answers_only_queries_that_name_nothing_else(
    lake_and_table: tuple[Lake, TableName],
) -> None:
    lake, table = lake_and_table
    plain = [
        f"SELECT id FROM {table}",
        f"SELECT id FROM {table}, range(3)",
        f"EXPLAIN SELECT id FROM {table}",
        f"FROM {table}$files",
    ]
    assert not any(lake.queries.plan(QueryRequest(sql)).reads_more for sql in plain)
    assert lake.queries.plan(QueryRequest("FROM system.query_log")).reads_more


def test_more_is_not_remembered_than_may_be(tmp_path: Path) -> None:
    lake, table = lake_of_many_files(tmp_path, query={"cache_memory": "20kB"})
    with lake:
        most = 0
        for _ in range(40):
            assert lake.query(f"SELECT count(*) FROM {table}").fetchall() == [(FILES * 5,)]
            most = max([most, *(one.ended for one in shared(lake)._open)])
        assert 0 < most <= 32  # then it had seen enough, and the next query had another


def test_what_may_stay_is_remembered(tmp_path: Path) -> None:
    lake, table = lake_of_many_files(tmp_path)
    with lake:
        for _ in range(20):
            assert lake.query(f"SELECT count(*) FROM {table}").fetchall() == [(FILES * 5,)]
        (only,) = shared(lake)._open
        assert 0 < only.cached_bytes() < lake.settings.query.cache_memory


def test_queries_at_the_same_time_share_one_and_see_their_own_states(tmp_path: Path) -> None:
    lake, table = lake_of_many_files(tmp_path)
    with lake:
        history = [row[0] for row in lake.query(f"SELECT snapshot_id FROM {table}$snapshots")]
        now = [lake.query(f"SELECT id FROM {table}") for _ in range(3)]
        then = lake.query(f"SELECT id FROM {table}", at=history[0])
        assert len(shared(lake)._open) == 2  # two states under one name
        assert [len(one.fetchall()) for one in (*now, then)] == [FILES * 5] * 3 + [5]
        assert [len(one.fetchall()) for one in (then, *now)] == [5] + [FILES * 5] * 3


def test_threads_that_ask_for_different_states_never_get_anothers(tmp_path: Path) -> None:
    lake, table = lake_of_many_files(tmp_path)
    wrong: list[object] = []

    def ask(first: int) -> None:
        for turn in range(12):
            number = (first * 7 + turn) % FILES
            found = lake.query(f"SELECT count(*) FROM {table}", at=history[number])
            if (rows := list(found)) != [((number + 1) * 5,)]:
                wrong.append((number, rows))

    with lake:
        history = [
            row[0]
            for row in lake.query(
                f"SELECT snapshot_id FROM {table}$snapshots ORDER BY committed_at"
            )
        ]
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(shared(lake)._open) <= 6
        lake.query("SELECT 1").fetchall()
        assert all(not one.users for one in shared(lake)._open)


def test_views_that_nobody_uses_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakebed.engines.duckdb.instance_pool._UNUSED", 3)
    lake, table = lake_of_many_files(tmp_path)
    with lake:
        for number in range(10):  # each has files of its own, hence a view
            asked = (
                f"SELECT count(*) FROM {table} AS a, {table} AS b WHERE a.id = {number} AND b.id ="
                f" {number + 20}"
            )
            lake.query(asked).fetchall()
            lake.query(f"SELECT count(*) FROM {table}$files").fetchall()
        lake.query(f"SELECT count(*) FROM {table}$partitions").fetchall()
        (only,) = shared(lake)._open
        with only.connection.cursor() as cursor:
            (count,) = cursor.execute(
                "SELECT count(*) FROM duckdb_views() WHERE NOT internal"
            ).fetchone()
            (copies,) = cursor.execute(
                "SELECT count(*) FROM duckdb_tables() WHERE NOT internal"
            ).fetchone()
        assert count + copies <= 3


def test_settings_of_one_query_are_not_the_next_ones(tmp_path: Path) -> None:
    lake, table = lake_of_many_files(tmp_path)
    with lake:
        profiled = lake.query(f"SELECT count(*) FROM {table}", profile=True)
        profiled.fetchall()
        assert profiled.profile
        assert profiled.profile.operators
        lake.query("PIVOT (SELECT 1 AS a, 2 AS b) ON a USING sum(b)").fetchall()
        assert lake.query("SELECT current_setting('enable_profiling') IS NULL").fetchall() == [
            (True,)
        ]


def test_the_memory_of_queries_is_bounded_by_the_setting(tmp_path: Path) -> None:
    lake, _ = lake_of_many_files(tmp_path, query={"memory": "300MB"})
    with lake:
        assert lake.query("SELECT current_setting('memory_limit')").fetchall() == [("286.1 MiB",)]
