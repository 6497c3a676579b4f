"""What every catalog promises to whoever reads old snapshots: protections and pins belong to a
table, not to a name.
"""

from datetime import UTC, datetime

import pytest

from lakebed.names import TableName, new_run_id
from lakebed.ports import InputPin, RunRecord
from lakebed.tables import PublishRequest, publish
from tests.support.benches import Bench


@pytest.fixture
def reader(bench: Bench) -> "Reader":
    return Reader(bench)


class Reader:
    """A follower and a run that need the present snapshots of tables."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.run_id = bench, new_run_id()
        started = datetime(2026, 11, 16, tzinfo=UTC)
        self.run = RunRecord(self.run_id, "build", self.name("sums"), "running", started)
        bench.records.write(self.run)

    def name(self, name: str) -> TableName:
        return TableName(self.bench.namespace, "silver", name)

    def new(self, name: str) -> tuple[TableName, int]:
        table = self.bench.table(name)
        self.bench.write(table, [1])
        head = self.bench.catalog.metadata(self.bench.catalog.pointers([table]).values())[
            table
        ].head()
        assert head
        return table, head.id

    def needs(self, *tables: tuple[TableName, int]) -> None:
        for table, snapshot in tables:
            self.bench.events.protect("mirror", table, [snapshot])
        self.bench.records.pin(self.run_id, [InputPin(*one) for one in tables])

    def protected(self) -> dict[TableName, int]:
        """By the follower and by the run alike."""
        held = {one.table: frozenset([one.snapshot]) for one in self.bench.events.protected()}
        assert held == self.bench.records.pinned()
        return {table: snapshot for table, (snapshot,) in held.items()}

    def end(self) -> None:
        self.bench.events.unprotect("mirror")
        self.bench.records.unpin([self.run_id])


def test_a_protected_snapshot_stays_with_its_table_whatever_that_is_called(reader: Reader) -> None:
    """Under its former name it would be mistaken for one of the next table of that name."""
    catalog = reader.bench.catalog
    orders, first = reader.new("orders")
    reader.needs((orders, first))
    former = reader.name("former")
    catalog.rename(orders, former)
    assert reader.protected() == {former: first}

    orders, second = reader.new("orders")
    reader.needs((former, first), (orders, second))
    gone = catalog.drop(orders)
    assert gone
    assert reader.protected() == {former: first, gone.hidden_name: second}

    catalog.rename(former, orders)  # a new table of the dropped one's name
    reader.bench.events.protect("mirror", orders, [first])
    assert reader.protected() == {orders: first, gone.hidden_name: second}

    back = reader.name("back")
    catalog.restore(gone, back)
    assert reader.protected() == {orders: first, back: second}
    reader.end()
    assert reader.protected() == {}


def test_what_a_first_run_writes_stays_protected_when_it_gets_its_name(reader: Reader) -> None:
    hidden, head = reader.new(f"run_{new_run_id()}")
    reader.needs((hidden, head))
    orders = reader.name("orders")
    request = PublishRequest(hidden, "main", becomes=orders)
    publish(reader.bench.catalog, [request], run_id=new_run_id())
    assert reader.protected() == {orders: head}


def test_a_clone_does_not_take_the_protections_of_its_source_along(reader: Reader) -> None:
    if reader.bench.catalog.owns_files:
        pytest.skip("a catalog that owns its tables' files has no clones")
    orders, head = reader.new("orders")
    reader.needs((orders, head))
    catalog, copy = reader.bench.catalog, reader.name("copy")
    pointer = catalog.pointers([orders])[orders]
    place = f"{catalog.metadata([pointer])[orders].location}_copy"
    catalog.clone(pointer, copy, snapshot=head, location=place)
    assert reader.protected() == {orders: head}
    reader.bench.events.protect("mirror", copy, [head])
    reader.bench.records.pin(reader.run_id, [InputPin(orders, head), InputPin(copy, head)])
    catalog.drop(orders)
    catalog.purge(copy)  # as another tool drops it: nothing of its state goes
    catalog.restore(catalog.dropped()[0], copy)
    assert reader.protected() == {copy: head}
