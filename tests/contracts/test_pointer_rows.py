"""What pointer rows promise: all of them are found, and several change in one transaction or not at
all.
"""

import pytest

from lakebed.engines.iceberg import file_properties
from lakebed.engines.iceberg.catalog.pointer_rows import DatabasePointerRows
from lakebed.errors import LeaseLost, PointerMoved
from lakebed.names import TableName
from lakebed.ports import (
    ChangeRecords,
    Event,
    Lease,
    PointerChange,
    PointerRow,
    PointerRows,
    RefMove,
)
from tests.support.benches import RealBench


def found(rows: PointerRows) -> dict[str, PointerRow]:
    return {row.name: row for row in rows.rows()}


def test_tables_and_dropped_tables_are_pointed_elsewhere_together_or_not_at_all(
    atomic_bench: RealBench,
) -> None:
    settings = atomic_bench.settings
    rows: PointerRows = DatabasePointerRows(
        atomic_bench.stores.database, file_properties=file_properties(settings.files)
    )
    orders, gone = atomic_bench.table("orders"), atomic_bench.table("gone")
    atomic_bench.write(orders, [1])
    before = atomic_bench.catalog.metadata(atomic_bench.catalog.pointers([orders]).values())[orders]
    head = before.head()
    assert head
    atomic_bench.write(orders, [2])
    atomic_bench.catalog.drop(gone)
    known = found(rows)
    assert {(row.name, row.kind, row.table) for row in known.values()} == {
        (str(orders), "table", orders),
        (str(gone), "dropped", gone),
    }

    row, dropped = known[str(orders)], known[str(gone)]
    staged = rows.stage(row.location, RefMove(orders, "none", head.id, None))
    assert found(rows) == known
    event = Event("relocated", orders)
    records = ChangeRecords(events=(event,))
    moved = PointerChange(PointerRow("table", str(orders), orders, "elsewhere", row.key), staged)
    with pytest.raises(PointerMoved):
        rows.change([PointerChange(dropped, "nowhere"), moved], records=records)
    with pytest.raises(LeaseLost):
        rows.change(
            [PointerChange(row, staged)], leases=[Lease(str(orders), "nobody", 7)], records=records
        )
    assert (found(rows), atomic_bench.events.since()) == (known, ())

    rows.change([PointerChange(row, staged), PointerChange(dropped, row.location)], records=records)
    assert (found(rows)[str(orders)].location, found(rows)[str(orders)].previous) == (
        staged,
        row.location,
    )
    assert found(rows)[str(gone)].location == row.location
    assert [recorded.event for recorded in atomic_bench.events.since()] == [event]
    assert atomic_bench.rows(orders) == [1]


def test_a_name_outside_three_parts_has_no_table_name(atomic_bench: RealBench) -> None:
    rows: PointerRows = DatabasePointerRows(atomic_bench.stores.database, file_properties={})
    atomic_bench.iceberg.create_namespace_if_not_exists("alone")
    atomic_bench.table("orders")
    location = atomic_bench.catalog.pointers()[TableName("shop", "silver", "orders")].location
    atomic_bench.iceberg.register_table(("alone", "orders"), location)
    assert {row.name: row.table for row in rows.rows()}["alone.orders"] is None
