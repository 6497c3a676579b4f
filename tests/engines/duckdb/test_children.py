"""Processes for untrusted queries: each is used once, and the next is started before it is
needed.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lakebed.app import Lake
from lakebed.engines.duckdb.untrusted.child_pool import ChildPool
from lakebed.engines.duckdb.untrusted.confined import ConfinedQuery, SandboxInputs
from lakebed.engines.duckdb.untrusted.engine import ConfinedEngine
from lakebed.errors import BadQuery
from tests.support.benches import ids
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake


def answered(children: ChildPool, sql: str = "SELECT 42 AS x") -> int:
    """The process that answered."""
    with ConfinedQuery(sql, SandboxInputs((), ()), children=children) as running:
        pid = running._child.pid
        assert [row["x"] for batch in running.batches() for row in batch.to_pylist()] == [42]
    return pid


def waiting(children: ChildPool) -> list[int]:
    return [child.pid for child in children._waiting]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_waits_after_the_second_query_and_answers_the_third() -> None:
    children = ChildPool(ready=1)
    first = answered(children)
    assert waiting(children) == []  # whoever asks once pays for one
    second = answered(children)
    (ready,) = waiting(children)
    assert answered(children) == ready
    assert len({first, second, ready, *waiting(children)}) == 4  # none is used twice
    (last,) = waiting(children)
    children.close()
    assert not alive(last)
    assert answered(children)  # it still answers
    assert waiting(children) == []


def test_a_query_that_is_closed_twice_is_one_query() -> None:
    children = ChildPool(ready=1)
    with ConfinedQuery("SELECT 42 AS x", SandboxInputs((), ()), children=children) as running:
        list(running.batches())
        running.close()
    assert waiting(children) == []


def test_one_that_died_while_it_waited_is_replaced() -> None:
    children = ChildPool(ready=1)
    answered(children)
    answered(children)
    (ready,) = waiting(children)
    os.kill(ready, signal.SIGKILL)
    while children._waiting[0].poll() is None:
        time.sleep(0.01)
    assert answered(children) != ready
    children.close()


def test_none_waits_where_none_shall() -> None:
    children = ChildPool(ready=0)
    for _ in range(3):
        answered(children)
    assert waiting(children) == []


def test_a_refused_query_leaves_nothing_to_the_next() -> None:
    children = ChildPool(ready=1)
    for _ in range(3):
        with (
            pytest.raises(BadQuery),
            ConfinedQuery(
                "SELECT * FROM nowhere", SandboxInputs((), ()), children=children
            ) as running,
        ):
            list(running.batches())
    assert answered(children)
    children.close()


_ASKS = """
import sys, time
from tests.engines.duckdb.test_children import ChildPool, answered, waiting
children = ChildPool(ready=1)
answered(children), answered(children)
print(*waiting(children), flush=True)
time.sleep(600)
"""


def test_one_that_waits_ends_when_its_lake_is_killed() -> None:
    asking = subprocess.Popen(
        [sys.executable, "-c", _ASKS],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert asking.stdout
    ready = int(asking.stdout.readline())
    assert alive(ready)
    asking.kill()
    asking.wait()
    asking.stdout.close()
    for _ in range(1000):
        if not alive(ready) or Path(f"/proc/{ready}/stat").read_text().split()[2] == "Z":
            return
        time.sleep(0.01)
    pytest.fail("it still waits")


def test_a_closed_lake_leaves_no_process(tmp_path: Path) -> None:
    with make_lake(tmp_path / "lake") as lake:
        bench = bench_of(lake)
        table = add_table(bench, "orders", [ids(range(5))], schema=ids([1]).schema)
        bench.close()
        for _ in range(3):
            assert lake.query(f"SELECT count(*) FROM {table}", untrusted=True).fetchall() == [(5,)]
        (ready,) = waiting(_children(lake))
    assert not alive(ready)


def _children(lake: Lake) -> ChildPool:
    engine = lake.queries.engines.untrusted
    assert isinstance(engine, ConfinedEngine)
    return engine.children
