"""Untrusted SQL, carried out: nothing outside the lake is read, nothing is written, and limits end
what does not end.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from lakebed.engines.duckdb.untrusted.confined import ConfinedQuery, SandboxInputs, UntrustedLimits
from lakebed.errors import BadQuery, QueryEnded
from tests.query.attacks import ATTACKS, FILES, HONEST, SECRET
from tests.query.fuzzed import statements
from tests.support.scale import SCALE

FUZZED = 1_000 * SCALE
SMALL = UntrustedLimits(rows=100, seconds=20, memory=256 << 20)


@dataclass(frozen=True)
class Place:
    """A folder that looks like a lake, with secrets in it and beside it."""

    lake: Path
    secret: Path
    out: Path
    ground: SandboxInputs

    def spelled(self, sql: str) -> str:
        for name, place in (("secret", self.secret), ("lake", self.lake), ("out", self.out)):
            sql = sql.replace(f"{{{name}}}", str(place))
        return sql

    def listing(self) -> dict[str, tuple[int, int]]:
        above = self.lake.parent
        return {
            str(path): (path.stat().st_size, path.stat().st_mtime_ns)
            for path in sorted(above.rglob("*"))
        }


@pytest.fixture
def place(tmp_path: Path) -> Place:
    import duckdb

    lake, out = tmp_path / "lake", tmp_path / "out"
    data = lake / "shop/warehouse/silver/orders/data/a.parquet"
    data.parent.mkdir(parents=True)
    out.mkdir()
    (lake / ".data").mkdir()
    duckdb.sql(
        "SELECT range AS id, chr(97 + (range % 3)::INT) AS name FROM range(1000)"
    ).write_parquet(str(data))
    duckdb.sql(f"SELECT '{SECRET}' AS column0").write_parquet(
        str(data.with_name("unpublished.parquet"))
    )
    for file in (
        tmp_path / "secret.csv",
        lake / "lakebed.yaml",
        lake / ".data/lake.db",
        lake / ".data/x.json",
    ):
        file.write_text(f"{SECRET}\n{SECRET}\n")
    setup = (
        "ATTACH ':memory:' AS shop",
        "CREATE SCHEMA shop.silver",
        f"CREATE VIEW shop.silver.orders AS SELECT * FROM read_parquet(['{data}'])",
        "USE shop.silver",
    )
    return Place(
        lake,
        tmp_path / "secret.csv",
        out,
        SandboxInputs(setup, (("shop", "silver", "orders"),), (str(data),)),
    )


def answer(place: Place, sql: str, limits: UntrustedLimits = SMALL) -> Any:
    with ConfinedQuery(sql, place.ground, limits) as running:
        return running.reader().read_all().to_pylist()


def test_an_honest_query_is_answered_and_the_rest_of_its_rows_is_said_to_be_there(
    place: Place,
) -> None:
    assert answer(place, "SELECT count(*) AS n, max(id) AS top FROM shop.silver.orders") == [
        {"n": 1000, "top": 999}
    ]
    with ConfinedQuery("SELECT id FROM orders ORDER BY id", place.ground, SMALL) as running:
        assert running.reader().read_all()["id"].to_pylist() == list(range(100))
        assert running.truncated
    with ConfinedQuery("SELECT id FROM orders WHERE id < 100", place.ground, SMALL) as running:
        assert running.reader().read_all().num_rows == 100
        assert not running.truncated


ENDLESS = [
    "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))",
    "SELECT count(*) FROM range(1000000) a, range(1000000) b",
]
GREEDY = [
    "SELECT length(repeat('x', 2000000000))",
    "SELECT len(range(2000000000))",
    "SELECT string_agg(repeat('x', 1000000)) FROM range(3000)",
]


@pytest.mark.parametrize("sql", ENDLESS)
def test_time_ends_what_does_not_end(place: Place, sql: str) -> None:
    with pytest.raises(QueryEnded, match="longer than 1 s"):
        answer(place, sql, UntrustedLimits(seconds=1))


@pytest.mark.parametrize("sql", GREEDY)
def test_memory_ends_what_grows_and_grows(place: Place, sql: str) -> None:
    with pytest.raises(QueryEnded, match="more than 256 MiB of memory"):
        answer(place, sql, UntrustedLimits(seconds=60, memory=256 << 20))


WIDE = [
    ("SELECT repeat('x', 1000) AS x FROM range(1000000)", 1000),
    (
        "SELECT id, repeat('x', 50000) AS x FROM orders",
        50_000,
    ),  # one batch is larger than all that may come
    (
        "SELECT id, repeat('x', CASE WHEN id = 3 THEN 3000000 ELSE 10 END) AS x FROM orders",
        3_000_000,
    ),
    ("SELECT [{'a': repeat('x', 20000)}, NULL] AS x, range(500) AS y FROM orders", 25_000),
    ("SELECT repeat('x', 3000000) AS x", 3_000_000),  # not even one row fits
]


@pytest.mark.parametrize(("sql", "widest"), WIDE)
def test_an_answer_never_has_more_bytes_than_an_untrusted_query_may_get(
    place: Place, sql: str, widest: int
) -> None:
    limits = UntrustedLimits(rows=10**9, bytes=2_000_000, seconds=20)
    with ConfinedQuery(sql, place.ground, limits) as running:
        batches = list(running.batches())
        assert running.truncated
    assert sum(batch.nbytes for batch in batches) <= limits.bytes
    assert sum(batch.nbytes for batch in batches) > limits.bytes - 2 * widest  # and not many fewer


def test_an_answer_that_just_fits_is_whole(place: Place) -> None:
    sql = "SELECT id, repeat('x', 50000) AS x FROM orders WHERE id < 30 ORDER BY id"
    with ConfinedQuery(sql, place.ground, UntrustedLimits(rows=30)) as running:
        size = sum(batch.nbytes for batch in running.batches())
        assert not running.truncated
    for most, rows, truncated in ((size + 1000, 30, False), (size - 1000, 29, True)):
        with ConfinedQuery(sql, place.ground, UntrustedLimits(rows=30, bytes=most)) as running:
            assert running.reader().read_all()["id"].to_pylist() == list(range(rows))
            assert running.truncated == truncated


def test_a_query_can_be_cancelled_from_another_thread(place: Place) -> None:
    with ConfinedQuery(
        "SELECT count(*) FROM range(1000000) a, range(1000000) b", place.ground
    ) as running:
        threading.Timer(0.5, running.cancel).start()
        with pytest.raises(QueryEnded, match="cancelled"):
            running.reader().read_all()


def test_a_query_that_is_left_leaves_no_process(place: Place) -> None:
    with ConfinedQuery(
        "SELECT id FROM orders, range(1000000)", place.ground, UntrustedLimits(rows=10**9)
    ) as running:
        next(iter(running.batches()))
        child = running._child.pid
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_what_duckdb_refuses_is_said_without_a_traceback(place: Place) -> None:
    with pytest.raises(BadQuery, match='Referenced column "nope" not found'):
        answer(place, "SELECT nope FROM orders")
    with pytest.raises(BadQuery, match="Could not convert string"):
        answer(place, "SELECT CAST(name AS INT) FROM orders")


def test_nothing_of_this_process_reaches_the_child(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEBED_CANARY", SECRET)
    with ConfinedQuery("SELECT count(*) FROM range(100000000)", place.ground) as running:
        environment = Path(f"/proc/{running._child.pid}/environ")
        time.sleep(0.2)
        assert SECRET not in environment.read_text()


@pytest.mark.parametrize(
    "attack", [FILES[0], FILES[18], "SELECT 1; DROP VIEW orders", "COPY orders TO '{out}/x.csv'"]
)
def test_the_whole_way_refuses_attacks_that_no_first_wall_saw(place: Place, attack: str) -> None:
    before = place.listing()
    with pytest.raises(BadQuery):
        answer(place, place.spelled(attack))
    assert place.listing() == before


def tried(place: Place, texts: list[str]) -> Iterator[dict[str, Any]]:
    """What came of each statement, in a process that may not die of any."""
    job = {"ground": asdict(place.ground) | asdict(SMALL), "statements": texts}
    done = subprocess.run(
        [sys.executable, "-m", "tests.query.fuzzed"],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-200:]
    lines = done.stdout.splitlines()
    assert len(lines) == len(texts)
    yield from map(json.loads, lines)


def test_a_locked_connection_alone_reads_no_secret_and_writes_nothing(place: Place) -> None:
    texts = [place.spelled(attack) for attack in ATTACKS]
    before = place.listing()
    for text, told in zip(texts, tried(place, texts), strict=True):
        assert not told["leaked"], text
        assert not (told["guard"] and told["look"]), text
    assert place.listing() == before


def test_honest_queries_pass_the_walls_and_run(place: Place) -> None:
    for text, told in zip(HONEST, tried(place, HONEST), strict=True):
        assert (told["guard"], told["look"], told["ran"]) == (True, True, "ok"), text


def test_fuzzed_statements_read_no_secret_write_nothing_and_crash_nothing(place: Place) -> None:
    texts = [place.spelled(text) for text in statements(FUZZED, seed=6)]
    before = place.listing()
    found = list(tried(place, texts))
    leaks = [text for text, told in zip(texts, found, strict=True) if told["leaked"]]
    assert not leaks
    assert place.listing() == before
    passed = Counter((told["guard"], told["look"]) for told in found)
    assert passed[True, True] > FUZZED // 50  # the fuzz reaches what lies behind the walls
    assert passed[False, False] > FUZZED // 3
