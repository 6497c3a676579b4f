"""A run's branch is opened in the catalog, without Spark."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from lakebed.errors import Diverged, LeaseLost
from lakebed.names import TableName
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.branch import open_branch
from lakebed.ports import Lease, RemoveSnapshots, TableMetadata
from tests.support.benches import RealBench, sqlite_bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RealBench]:
    bench = sqlite_bench(tmp_path)
    yield bench
    bench.close()


def run_of(bench: RealBench, table: TableName, lease: Lease, *, skip: bool = False) -> ActiveRun:
    """As much of a run as opens a branch; it has no session."""
    run = SimpleNamespace(
        progress=SimpleNamespace(skip_write=skip),
        services=SimpleNamespace(ports=SimpleNamespace(catalog=bench.catalog)),
        options=SimpleNamespace(ref="main"),
        held=SimpleNamespace(require=lambda: lease),
        table=table,
        branch="run_9",
    )
    return cast("ActiveRun", run)


def acquired(bench: RealBench, table: TableName) -> Lease:
    return bench.leases.acquire(str(table), holder="test", limit=600.0)


def described(bench: RealBench, table: TableName) -> TableMetadata:
    return bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]


def head_of(bench: RealBench, table: TableName, ref: str) -> int | None:
    head = described(bench, table).head(ref)
    return head.id if head else None


def test_it_begins_at_the_snapshot_that_was_read_whatever_others_wrote_since(
    bench: RealBench,
) -> None:
    orders = bench.table("orders")
    bench.write(orders, [1])
    read = head_of(bench, orders, "main")
    bench.write(orders, [2])
    newest = head_of(bench, orders, "main")
    open_branch(run_of(bench, orders, acquired(bench, orders)), read)
    assert (head_of(bench, orders, "run_9"), head_of(bench, orders, "main")) == (read, newest)


def test_a_run_that_lost_its_table_opens_none(bench: RealBench) -> None:
    orders = bench.table("orders")
    bench.write(orders, [1])
    lost = acquired(bench, orders)
    bench.leases.release(lost)
    acquired(bench, orders)
    with pytest.raises(LeaseLost):
        open_branch(run_of(bench, orders, lost), head_of(bench, orders, "main"))
    assert "run_9" not in described(bench, orders).refs


def test_a_state_that_is_gone_meanwhile_is_reported_as_such(bench: RealBench) -> None:
    orders = bench.table("orders")
    bench.write(orders, [1])
    read = head_of(bench, orders, "main")
    assert read is not None
    bench.write(orders, [2])
    bench.catalog.amend(orders, (RemoveSnapshots((read,)),))
    with pytest.raises(Diverged):
        open_branch(run_of(bench, orders, acquired(bench, orders)), read)


def test_a_run_that_writes_nothing_opens_none(bench: RealBench) -> None:
    orders = bench.table("orders")
    bench.write(orders, [1])
    run = run_of(bench, orders, acquired(bench, orders), skip=True)
    open_branch(run, head_of(bench, orders, "main"))
    assert "run_9" not in described(bench, orders).refs
