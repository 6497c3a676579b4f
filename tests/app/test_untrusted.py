"""`lake.query(sql, untrusted=True)` from end to end: answers, refusals, limits, and what is written
down of them.
"""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakebed.app import Lake, create_lake, open_lake
from lakebed.errors import BadQuery, QueryEnded
from lakebed.query.cancellation import Cancellation
from lakebed.settings import Root
from tests.query.attacks import ATTACKS, SECRET
from tests.support.benches import sqlite_bench
from tests.support.tables import snapshots_of

LONG = "SELECT count(*) FROM range(1000000) a, range(1000000) b"


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """Two tables, one that only `iceberg_scan` reads; secrets beside them; small limits."""
    folder = tmp_path / "lake"
    create_lake(
        Root.parse(folder),
        settings={"query": {"untrusted_rows": 3, "untrusted_seconds": 3}},
        environment={},
    )
    bench = sqlite_bench(folder)
    for name in ("orders", "t"):
        bench.write(bench.table(name), [1, 2, 3, 4])
    bench.close()
    (tmp_path / "secret.csv").write_text(f"{SECRET}\n")
    with open_lake(folder) as opened:
        yield opened


def test_untrusted_queries_are_answered_from_the_lakes_tables(lake: Lake) -> None:
    answer = lake.query("SELECT sum(id) AS n FROM orders JOIN silver.t USING (id)", untrusted=True)
    assert answer.to_arrow().to_pylist() == [{"n": 10}]
    assert not answer.truncated


def test_more_rows_than_allowed_are_left_out_and_that_is_said(lake: Lake) -> None:
    answer = lake.query("SELECT id FROM orders ORDER BY id", untrusted=True)
    assert answer.fetchall() == [(1,), (2,), (3,)]
    assert answer.truncated


def test_former_states_can_be_read(lake: Lake) -> None:
    first = snapshots_of(lake, "orders")[-1].id
    bench = sqlite_bench(lake.root.folder)
    bench.write(lake.tables.find("orders"), [5])
    bench.close()
    assert lake.query("SELECT count(*) FROM orders", untrusted=True, at=first).fetchall() == [(4,)]
    assert lake.query("SELECT count(*) FROM orders", untrusted=True).fetchall() == [(5,)]


@pytest.mark.parametrize("how", ["nested change", "clone"])
def test_tables_that_need_their_manifests_can_be_read_too(lake: Lake, how: str) -> None:
    if how == "clone":
        lake.tables.clone("orders", "shop.silver.copied")
        assert lake.query("SELECT count(*) FROM copied", untrusted=True).fetchall() == [(4,)]
        return
    from pyiceberg.types import IntegerType, NestedField, StructType

    table = lake.iceberg.load_table(lake.tables.find("orders").parts)
    with table.update_schema() as update:
        update.add_column(
            "s", StructType(NestedField(9, "a", IntegerType()), NestedField(10, "b", IntegerType()))
        )
    with table.update_schema() as update:
        update.rename_column(("s", "a"), "aa")
        update.delete_column(("s", "b"))
    assert lake.query("SELECT count(*), count(s) FROM orders", untrusted=True).fetchall() == [
        (4, 0)
    ]


def test_every_attack_is_refused_and_nothing_is_written_but_the_log(
    lake: Lake, tmp_path: Path
) -> None:
    places = {"{secret}": tmp_path / "secret.csv", "{lake}": tmp_path / "lake", "{out}": tmp_path}

    def listing() -> set[str]:
        return {
            str(path)
            for path in tmp_path.rglob("*")
            if "query_log" not in path.parts and ".data" not in path.parts
        }

    before = listing()
    for attack in ATTACKS:
        sql = attack
        for name, place in places.items():
            sql = sql.replace(name, str(place))
        with pytest.raises(BadQuery) as refused:
            lake.query(sql, untrusted=True, principal="eve")
        assert SECRET not in str(refused.value)
    assert listing() == before
    entries = list(lake.query_log.entries())
    assert len(entries) == len(ATTACKS)
    assert {(entry.status, entry.principal, entry.untrusted) for entry in entries} == {
        ("refused", "eve", True)
    }


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM orders$snapshots",
        "SELECT * FROM system.query_log",
        "SELECT * FROM orders WHERE id = ?",
    ],
)
def test_untrusted_queries_see_neither_the_books_nor_the_log_nor_parameters(
    lake: Lake, sql: str
) -> None:
    with pytest.raises(BadQuery):
        lake.query(sql, untrusted=True, parameters=[1] if "?" in sql else None)


def test_time_ends_a_query_and_the_log_says_so(lake: Lake) -> None:
    with pytest.raises(QueryEnded, match="longer than 3 s"):
        lake.query(LONG, untrusted=True).to_arrow()
    assert [entry.status for entry in lake.query_log.entries()] == ["ended"]


@pytest.mark.parametrize("untrusted", [True, False])
def test_a_query_is_stopped_from_another_thread(lake: Lake, untrusted: bool) -> None:
    stop = Cancellation()
    threading.Timer(0.7, stop.cancel).start()
    with pytest.raises(QueryEnded, match="cancelled"):
        lake.query(LONG, untrusted=untrusted, stop=stop).to_arrow()
    with pytest.raises(QueryEnded, match="cancelled"):
        lake.query(LONG, untrusted=untrusted, stop=stop).to_arrow()
    assert lake.query("SELECT 1").fetchall() == [(1,)]


def test_untrusted_queries_are_answered_by_duckdb_only(lake: Lake) -> None:
    with pytest.raises(BadQuery, match="DuckDB only"):
        lake.query("SELECT 1", untrusted=True, engine="spark")


def test_untrusted_queries_see_nothing_of_one_another(lake: Lake) -> None:
    answers = [
        lake.query(f"SELECT count(*) + {number} FROM orders", untrusted=True) for number in range(3)
    ]
    assert [next(iter(answer))[0] for answer in answers] == [4, 5, 6]
