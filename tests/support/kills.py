"""Runs that are killed, and what must be true of a lake once another run has come after them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from lakebed import Lake
from lakebed.names import TableName
from tests.support.dying import let_die
from tests.support.tables import snapshots_of


def killed(
    lake: Path | str,
    when: str | int,
    step: str,
    *options: str,
    environment: Mapping[str, str] | None = None,
) -> None:
    """A run that dies there; its lease is short, so that the next one need not wait."""
    let_die("killed_run", str(lake), str(when), step, *options, given=environment)


def check_healed(lake: Lake, tables: Iterable[TableName]) -> None:
    """After every fault and the run that healed it: no leftovers, one record and one snapshot for
    each success, and every file of every ref.
    """
    mine = {table.namespace for table in tables}
    pointers = lake.stores.catalog.pointers()
    assert not [table for table in pointers if table.hidden and table.namespace in mine]
    assert lake.stores.catalog.unsettled() == ()
    assert lake.stores.records.pinned() == {}
    for table in tables:
        assert set(lake.tables.describe(table).refs) == {"main"}
        assert lake.stores.records.runs(table=table, state="running") == ()
        _check_records(lake, table)
        _check_files(lake, table)


def _check_records(lake: Lake, table: TableName) -> None:
    """Each success that wrote has its snapshot, and no other run has one; others may commit."""
    succeeded = lake.stores.records.runs(table=table, state="success")
    recorded = {record.run_id: record.snapshot for record in succeeded if record.snapshot}
    published = [one for one in snapshots_of(lake, table) if one.run_id]
    assert {one.run_id: one.id for one in published} == recorded
    assert set(Counter(one.run_id for one in published).values()) <= {1}


def _check_files(lake: Lake, table: TableName) -> None:
    """Every snapshot of every ref can be read to its last file."""
    loaded = lake.iceberg.load_table(table.parts)
    for snapshot in loaded.snapshots():
        loaded.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
