"""Lazy tables: one snapshot, every filter, the table's own types, by every library."""

import gc
import json
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal
from pyiceberg.table import Table
from pyiceberg.types import LongType

import lakebed
from lakebed.errors import BadQuery, MissingExtra, UnknownName, UsageError
from lakebed.ports import RemoveSnapshots
from lakebed.tables.history import protection
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.support.benches import RealBench, postgres_bench, sqlite_bench
from tests.support.lakes.iceberg_histories import grow
from tests.support.scale import SCALE

_START = datetime(2024, 1, 1, tzinfo=UTC)


def _country(i: int) -> str | None:
    return ("DE", "FR", "US")[i % 3] if i % 7 else None


def orders(first: int, count: int) -> pa.Table:
    ids = range(first, first + count)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "country": pa.array([_country(i) for i in ids], pa.string()),
            "at": pa.array(
                [_START + timedelta(hours=i) for i in ids], pa.timestamp("us", tz="UTC")
            ),
            "day": pa.array([(_START + timedelta(hours=i)).date() for i in ids], pa.date32()),
            "amount": pa.array([Decimal(i) / 4 for i in ids], pa.decimal128(10, 2)),
            "weight": pa.array([i / 3 if i % 5 else float("nan") for i in ids], pa.float64()),
        }
    )


class Shop:
    """A lake with a table of four files."""

    def __init__(self, folder: Path) -> None:
        self.bench: RealBench = sqlite_bench(folder)
        (folder / "lakebed.yaml").touch()
        self.bench.catalog.create_namespace("shop", "silver")
        self.table: Table = self.bench.iceberg.create_table(
            "shop.silver.orders",
            orders(0, 1).schema,
            location=str(folder / "shop/warehouse/silver/orders"),
        )
        for first in range(0, 1000, 250):
            self.table.append(orders(first, 250))
        self.lake = lakebed.open(folder, environment={"LAKEBED_CACHE": str(folder / "cache")})


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.lake.close()
    made.bench.close()


def test_a_frame_joined_with_itself_and_with_a_filtered_copy_is_right_every_time(
    shop: Shop,
) -> None:
    frame = shop.lake.table("orders").to_polars(lazy=True)
    few = frame.filter(pl.col("id") % 2 == 0)
    for _ in range(40):
        assert frame.join(frame, on="id").select(pl.len()).collect().item() == 1000
        both = (
            frame.join(few, on="id", how="left", suffix="_few")
            .select(pl.len(), pl.col("at_few").count())
            .collect()
        )
        assert both.row(0) == (1000, 500)


def test_relations_and_readers_of_one_table_do_not_disturb_each_other(shop: Shop) -> None:
    table = shop.lake.table("orders", columns=["id"])
    readers = [table.to_arrow_batches(rows=100) for _ in range(3)]
    relation = table.to_duckdb()
    first = [reader.read_next_batch().num_rows for reader in readers]
    assert relation.join(relation.set_alias("other"), "id").count("*").fetchall() == [(1000,)]
    assert [
        count + reader.read_all().num_rows for count, reader in zip(first, readers, strict=True)
    ] == [1000] * 3


HALVES = [
    ((pl.col("id") > 700) & (pl.col("country").str.to_lowercase() == "de"), 2),
    (
        (pl.col("country").str.len_chars() == 2)
        & (pl.col("at") < datetime(2024, 1, 5, tzinfo=UTC)),
        1,
    ),
    (pl.col("id").is_between(10, 20) & (pl.col("weight") * 2 > 10), 1),
    (
        pl.col("day").is_in([date(2024, 2, 2), date(2024, 2, 3)]) & pl.col("country").is_not_null(),
        1,
    ),
    ((pl.col("id") < 5) | (pl.col("country").str.ends_with("E")), 4),
    ((pl.col("amount") >= Decimal("240.25")) & ~(pl.col("country") == "US"), 1),
    # more digits than the column has: behind the point, and before it
    (pl.col("amount") < Decimal("0.755"), 4),
    (pl.col("amount") < Decimal("12345678901.5"), 4),
    (pl.col("country") > "D\0'E", 4),
    ((pl.col("weight") > 300.0), 4),  # PyIceberg does not count NaN, which is more than any number
]


@pytest.mark.parametrize(("condition", "files"), HALVES, ids=str)
def test_a_filter_half_of_which_cannot_be_pushed_loses_nothing(
    shop: Shop, condition: pl.Expr, files: int
) -> None:
    everything = pl.from_arrow(shop.lake.table("orders").to_arrow())
    assert isinstance(everything, pl.DataFrame)
    wanted = everything.filter(condition)
    seen = _watched(shop)
    got = shop.lake.table("orders").to_polars(lazy=True).filter(condition).collect()
    assert_frame_equal(got, wanted, check_row_order=False)
    assert wanted.height
    assert seen[-1] == files


@pytest.mark.parametrize(
    ("condition", "rows"),
    [("\"at\" < '9999-12-31 23:59:59-05'", 1000), ("\"at\" < '0001-01-01 00:00:00+05'", 0)],
)
def test_the_ends_of_the_calendar_are_compared_beyond_python_s(
    shop: Shop, condition: str, rows: int
) -> None:
    assert shop.lake.table("orders", where=condition).count() == rows
    assert shop.lake.query(f"SELECT count(*) FROM orders WHERE {condition}").fetchall() == [(rows,)]


def _watched(shop: Shop) -> list[int]:
    """How many files each scan keeps, from now on."""
    scans, seen = shop.lake.stores.scans, []
    plan = scans.plan

    def counting(*given: Any, **options: Any) -> Any:
        found = plan(*given, **options)
        seen.append(len(found.files))
        return found

    scans.plan = counting  # type: ignore[method-assign]
    return seen


@pytest.mark.parametrize(
    ("where", "fits", "files"),
    [
        (
            "country = 'DE' AND at >= TIMESTAMP '2024-02-01'",
            lambda i: _country(i) == "DE" and i >= 744,
            2,
        ),
        ("lower(country) = 'de' AND id > 700", lambda i: _country(i) == "DE" and i > 700, 2),
        ("upper(country) = 'DE' OR id < 3", lambda i: _country(i) == "DE" or i < 3, 4),
        ("NOT (id < 990 OR country IS NULL)", lambda i: i >= 990 and _country(i), 1),
        ("NOT (id < 990 OR length(country) = 3)", lambda i: i >= 990 and _country(i), 4),
        ("id BETWEEN 3 AND 4 -- the third and fourth", lambda i: i in (3, 4), 1),
        ("orders.id = 3", lambda i: i == 3, 1),
        ("weight = 'nan'::DOUBLE", lambda i: i % 5 == 0, 4),
        ("weight > 300", lambda i: i % 5 == 0 or i > 900, 4),
        (
            "day = '2024-02-03' AND country LIKE 'D%'",
            lambda i: 792 <= i < 816 and _country(i) == "DE",
            1,
        ),
    ],
)
def test_a_text_filters_whole_and_prunes_by_what_is_known(
    shop: Shop, where: str, fits: Any, files: int
) -> None:
    rows = sum(1 for i in range(1000) if fits(i))
    table = shop.lake.table("orders", columns=["id"], where=where)
    assert (table.count(), table.to_arrow().num_rows, len(table.scan().files)) == (
        rows,
        rows,
        files,
    )
    assert table.to_polars(lazy=True).select(pl.len()).collect().item() == rows
    assert table.to_duckdb().count("*").fetchall() == [(rows,)]


@pytest.mark.parametrize(
    "where",
    [
        "id = 1) OR (id = 2",
        "id = 1 ORDER BY id",
        "id IN (SELECT 1)",
        "id = 1; DROP TABLE orders",
        "",
        "id = 1) --",
    ],
)
def test_what_is_no_condition_is_refused(shop: Shop, where: str) -> None:
    with pytest.raises(BadQuery):
        shop.lake.table("orders", where=where)


def test_unknown_columns_are_refused_when_the_table_is_asked_for(shop: Shop) -> None:
    with pytest.raises(UnknownName, match="country"):
        shop.lake.table("orders", columns=["contry"])
    with pytest.raises(UnknownName, match="country"):
        shop.lake.table("orders", where="contry = 'DE'")


def test_one_snapshot_is_read_whatever_happens_meanwhile(shop: Shop) -> None:
    table = shop.lake.table("orders")
    frame, before = table.to_polars(lazy=True), table.to_arrow()
    shop.table.append(orders(1000, 10))
    with shop.table.update_schema() as update:
        update.rename_column("country", "land")
        update.delete_column("weight")
    shop.table.delete("id < 500")
    assert frame.collect().shape == (1000, 6)
    assert _alike(table.to_arrow(), before)
    now = shop.lake.table("orders")
    assert now.columns == ("id", "land", "at", "day", "amount")
    assert (now.count(), now.to_arrow().num_rows) == (510, 510)
    former = shop.lake.table("orders", at=table.snapshot)
    assert _alike(former.to_arrow(), before)


def _alike(one: pa.Table, other: pa.Table) -> bool:
    return one.schema == other.schema and sorted(map(repr, one.to_pylist())) == sorted(
        map(repr, other.to_pylist())
    )


def test_a_reader_of_a_former_state_protects_it_until_its_last_row(shop: Shop) -> None:
    holds = shop.lake.stores.events.protected
    oldest = shop.table.metadata.snapshots[0].snapshot_id
    table = shop.lake.table("orders", at=oldest)
    assert not holds()
    reader = table.to_arrow_batches(rows=50)
    reader.read_next_batch()
    assert [hold.snapshot for hold in holds()] == [table.snapshot]
    reader.read_all()
    assert not holds()
    left = table.to_arrow_batches(rows=50)
    left.read_next_batch()
    relation = table.to_duckdb()
    few = relation.limit(3)
    del left, relation
    gc.collect()
    assert len(holds()) == 1
    assert len(few.fetchall()) == 3
    del few
    gc.collect()
    assert not holds()


def test_reading_the_present_state_writes_nothing_to_the_database(shop: Shop) -> None:
    """Readers would wait for writers, and each other, on SQLite."""
    lake, events = shop.lake, shop.lake.stores.events
    table = lake.table("orders", where="id >= 500")
    at_home = shop.bench.root.folder / ".data" / "lake.db"
    with closing(sqlite3.connect(at_home)) as database:
        before = database.execute("PRAGMA data_version").fetchone()
        assert (table.count(), table.to_arrow().num_rows) == (500, 500)
        assert table.to_polars(lazy=True).collect().height == 500
        assert table.to_duckdb().fetchall()
        with lake.query("SELECT count(*) FROM orders") as result:
            assert result.fetchall() == result.fetchall() == [(1000,)]
        assert database.execute("PRAGMA data_version").fetchone() == before
        events.protect("reader", table.name, [1])
        assert database.execute("PRAGMA data_version").fetchone() != before


def test_a_state_that_was_pinned_long_ago_is_protected_when_it_is_read(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shop.lake.table("orders")
    shop.table.append(orders(1000, 10))
    monkeypatch.setattr(protection, "UNPROTECTED", -1.0)  # as if it were hours later
    reader = table.to_arrow_batches(rows=50)
    reader.read_next_batch()
    assert [one.snapshot for one in shop.lake.stores.events.protected()] == [table.snapshot]
    reader.read_all()
    shop.lake.tables.rename("orders", "shop.silver.renamed")
    assert table.to_arrow().num_rows == 1000
    shop.lake.tables.drop("renamed")
    assert table.to_arrow().num_rows == 1000
    assert not shop.lake.stores.events.protected()


def test_a_pinned_snapshot_that_expired_is_said_to_be_gone(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protection, "UNPROTECTED", -1.0)  # as if it were hours later
    table = shop.lake.table("orders")
    shop.table.append(orders(1000, 10))
    catalog = shop.lake.stores.catalog
    assert table.snapshot is not None
    catalog.amend(
        table.name,
        [RemoveSnapshots((table.snapshot,))],
        expected=catalog.pointers([table.name])[table.name],
    )
    with pytest.raises(UsageError, match="expired"):
        table.to_arrow()


def test_without_polars_the_extra_is_named(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith("lakebed.engines.polars")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"lakebed\[polars\]"):
        shop.lake.table("orders").to_polars(lazy=True)


@pytest.mark.parametrize("seed", range(4 * SCALE))
def test_every_type_is_read_exactly_after_any_change_of_columns(tmp_path: Path, seed: int) -> None:
    bench = sqlite_bench(tmp_path)
    (tmp_path / "lakebed.yaml").touch()
    _, table = grow(random.Random(1000 + seed), bench, "grown")
    with lakebed.open(tmp_path, environment={"LAKEBED_CACHE": str(tmp_path / "cache")}) as lake:
        read = lake.table("grown").to_arrow()
        wanted = table.scan().to_arrow().cast(read.schema)
        assert sorted(map(repr, read.to_pylist())) == sorted(map(repr, wanted.to_pylist()))
        assert lake.table("grown").to_polars(lazy=True).collect().height == wanted.num_rows
    bench.close()


def test_nested_fields_are_exact_after_they_changed(shop: Shop, tmp_path: Path) -> None:
    inner = pa.struct([("a", pa.int32()), ("tags", pa.list_(pa.string()))])
    rows = pa.table({"id": [1, 2], "s": pa.array([{"a": 1, "tags": ["x", None]}, None], inner)})
    table = shop.bench.iceberg.create_table(
        "shop.silver.nested", rows.schema, location=str(tmp_path / "nested")
    )
    table.append(rows)
    plain = shop.lake.table("nested")
    assert plain.scan().plain
    assert plain.to_arrow().to_pylist() == rows.to_pylist()
    with table.update_schema() as update:
        update.rename_column(("s", "a"), "b")
    with table.update_schema() as update:
        update.add_column(("s", "a"), LongType())
    table.append(
        pa.table(
            {
                "id": [3],
                "s": pa.array(
                    [{"b": 3, "tags": [], "a": 4}], table.schema().as_arrow().field("s").type
                ),
            }
        )
    )
    changed = shop.lake.table("nested")
    assert not changed.scan().plain
    wanted = [
        {"id": 1, "s": {"b": 1, "tags": ["x", None], "a": None}},
        {"id": 2, "s": None},
        {"id": 3, "s": {"b": 3, "tags": [], "a": 4}},
    ]
    assert changed.to_arrow().sort_by("id").to_pylist() == wanted
    assert shop.lake.table("nested", where="s.b = 3").to_polars(lazy=True).collect().rows() == [
        (3, {"b": 3, "tags": [], "a": 4})
    ]


@pytest.mark.s3
@pytest.mark.postgres
def test_a_table_in_a_bucket_is_read_alike(
    bucket: Bucket, database: Database, tmp_path: Path
) -> None:
    bench = postgres_bench(database, bucket)
    table = bench.table("orders")
    for first in range(0, 30, 10):
        bench.write(table, range(first, first + 10))
    with lakebed.Lake(
        bench.root, bench.settings, environment={"LAKEBED_CACHE": str(tmp_path)}
    ) as lake:
        few = lake.table("orders", where="id >= 25")
        assert (len(few.scan().files), few.count()) == (1, 5)
        assert sorted(lake.table("orders").to_arrow()["id"].to_pylist()) == list(range(30))
        assert (
            lake.table("orders")
            .to_polars(lazy=True)
            .filter(pl.col("id") < 3)
            .select(pl.len())
            .collect()
            .item()
            == 3
        )
    bench.close()


# -- memory, caches, many at once

_STREAM = """
import json, sys, resource
import lakebed
from pathlib import Path
from threading import Lock

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

lake = lakebed.open(sys.argv[1], environment={"LAKEBED_CACHE": sys.argv[1] + "/cache"})
lake.table("few", memory=sys.argv[2]).to_arrow()
if sys.argv[3] == "polars":
    import polars as pl
    lake.table("few", memory=sys.argv[2]).to_polars(lazy=True).collect(engine="streaming")
begin = most = resident()
size = rows = 0
table = lake.table("many", memory=sys.argv[2])
if sys.argv[3] == "arrow":
    for batch in table.to_arrow_batches(rows=8192):
        size, rows, most = size + batch.nbytes, rows + batch.num_rows, max(most, resident())
else:
    lock = Lock()
    def seen(frame):
        global size, rows, most
        with lock:
            size, rows, most = size + frame.estimated_size(), rows + frame.height, max(most, resident())
        return frame
    table.to_polars(lazy=True).map_batches(seen, streamable=True).select(pl.len()).collect(engine="streaming")
print(json.dumps({"size": size, "rows": rows, "grown": most - begin}))
"""


@pytest.mark.parametrize("way", ["arrow", "polars"])
def test_streaming_ten_times_the_memory_limit_stays_within_it(tmp_path: Path, way: str) -> None:
    limit, files, rows = 128 * 1024 * 1024, 8, 170_000
    bench = sqlite_bench(tmp_path)
    (tmp_path / "lakebed.yaml").touch()
    bench.catalog.create_namespace("shop", "silver")
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefgh", k=200)) for _ in range(500)]
    for name, count in (("few", 1), ("many", files)):
        wide = pa.table(
            {f"c{i}": pa.array(rng.choices(words, k=rows if count > 1 else 10)) for i in range(5)}
        )
        table = bench.iceberg.create_table(
            f"shop.silver.{name}", wide.schema, location=str(tmp_path / name)
        )
        for _ in range(count):
            table.append(wide)
    bench.close()
    given = [sys.executable, "-c", _STREAM, str(tmp_path), f"{limit // 1024 // 1024}MiB", way]
    ran = subprocess.run(given, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["rows"] == files * rows
    assert found["size"] > 10 * limit
    assert found["grown"] < limit, found


def test_rows_are_counted_whether_or_not_the_condition_names_a_column(shop: Shop) -> None:
    for where, rows in (("true", 1000), ("1 = 2", 0), ("id < 10", 10), ("random() >= 0", 1000)):
        assert shop.lake.table("orders", where=where).count() == rows


def _commits(shop: Shop) -> Iterator[str]:
    """One commit of every kind, each named when it is done."""
    table, first = shop.table, shop.table.current_snapshot()
    assert first is not None
    table.append(orders(1000, 20))
    yield "append"
    table.overwrite(orders(2000, 30), overwrite_filter="id >= 1000")
    yield "overwrite"
    table.delete("id < 100")
    yield "delete"
    with table.update_schema() as update:
        update.rename_column("country", "land")
    with table.update_schema() as update:
        update.add_column("country", LongType())
    yield "schema change"
    table.append(orders(5000, 5).rename_columns(["id", "land", *orders(0, 1).column_names[2:]]))
    yield "append under the new names"
    rows = table.scan().to_arrow()
    table.overwrite(rows)
    yield "rewrite of all files"
    table.manage_snapshots().rollback_to_snapshot(first.snapshot_id).commit()
    yield "rollback"


def test_cached_and_uncached_answers_are_equal_after_every_kind_of_commit(
    shop: Shop, tmp_path: Path
) -> None:
    where = "id >= 90 AND id < 3000"
    for number, _ in enumerate(_commits(shop)):
        kept = shop.lake.table("orders", where=where)
        fresh = {"LAKEBED_CACHE": str(tmp_path / f"cache{number}")}
        with (
            lakebed.open(tmp_path, environment=fresh) as empty,
            lakebed.open(tmp_path, environment=dict(shop.lake.environment)) as next_,
        ):
            wanted = shop.table.refresh().scan(row_filter=where).to_arrow()
            for lake in (shop.lake, empty, next_):
                table = lake.table("orders", where=where)
                assert (table.count(), table.scan()) == (wanted.num_rows, kept.scan())
                assert _alike(table.to_arrow(), wanted.cast(table.schema))


def _read_over_and_over(folder: str) -> list[str]:
    """What was wrong with any of the reads: a state is ten rows of one number, and no later one has
    a smaller number.
    """
    wrong, turns, most = [], 0, -1
    with lakebed.open(folder, environment={"LAKEBED_CACHE": f"{folder}/cache"}) as lake:
        while turns < 5 or not Path(folder, "done").exists():
            table, turns = lake.table("counted", columns=["n"]), turns + 1
            found = (
                table.to_arrow() if turns % 2 else table.to_polars(lazy=True).collect().to_arrow()
            )
            counts = Counter(found["n"].to_pylist())
            if list(counts.values()) != [10] or min(counts) < most:
                wrong.append(f"{table}: {counts}")
            most = max(counts, default=most)
            time.sleep(0.3)  # the writer wants to get on
    return wrong


def _four_at_once(folder: str) -> list[str]:
    with ThreadPoolExecutor(4) as threads:
        return [wrong for one in threads.map(_read_over_and_over, [folder] * 4) for wrong in one]


def test_eight_readers_see_one_consistent_snapshot_each_while_a_writer_commits(
    tmp_path: Path,
) -> None:
    bench = sqlite_bench(tmp_path)
    (tmp_path / "lakebed.yaml").touch()
    bench.catalog.create_namespace("shop", "silver")
    numbered = [
        pa.table({"n": pa.array([number] * 10, pa.int64())}) for number in range(60 * SCALE)
    ]
    table = bench.iceberg.create_table(
        "shop.silver.counted", numbered[0].schema, location=str(tmp_path / "counted")
    )
    table.append(numbered[0])
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        reading = [processes.submit(_four_at_once, str(tmp_path)) for _ in range(2)]
        try:
            for rows in numbered:
                table.overwrite(rows)
        finally:
            (tmp_path / "done").touch()
        assert [wrong for one in reading for wrong in one.result()] == []
    bench.close()
