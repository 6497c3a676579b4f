"""Tables of a lake, made, written and looked at as tests need it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from lakebed import Lake
from lakebed.names import TableName
from lakebed.ports import MAIN, Publication, Snapshot
from lakebed.tables import (
    HeldLease,
    PublishRequest,
    TablePlacement,
    find_point,
    protect_snapshots,
    publish,
)


def placement_of(lake: Lake) -> TablePlacement:
    """Where the lake puts new tables."""
    return TablePlacement(lake.ports)


def new_location(lake: Lake, table: str | TableName) -> str | None:
    """The location of a new table; it need not exist."""
    return placement_of(lake).new_location(_full_name(table))


def create_statement(
    lake: Lake, table: str | TableName, columns: str, *, partition_by: Sequence[str] = ()
) -> str:
    """CREATE TABLE for a new table: at its location, with the lake's write settings."""
    return placement_of(lake).create_statement(
        _full_name(table), columns, partition_by=partition_by
    )


def snapshots_of(lake: Lake, name: str | TableName, *, ref: str = MAIN) -> tuple[Snapshot, ...]:
    """The snapshots that lead to a ref, newest first."""
    metadata = lake.tables.describe(name)
    head = metadata.head(ref)
    return tuple(metadata.ancestry(head.id)) if head else ()


def publish_branch(
    lake: Lake,
    tables: Iterable[str | TableName],
    *,
    branch: str,
    run_id: str,
    held: Iterable[HeldLease] = (),
) -> Publication:
    """Move `main` of every table to its branch, all or none, under leases that are taken where
    `held` has none.
    """
    names = sorted(lake.tables.find(table) for table in tables)
    placement_of(lake).require_relocated()
    with ExitStack() as stack:
        leases = [one.require() for one in held]
        covered = {lease.name for lease in leases}
        leases += [
            stack.enter_context(lake.tables.lease(name)).require()
            for name in names
            if str(name) not in covered
        ]
        requests = [PublishRequest(name, branch) for name in names]
        return publish(lake.stores.catalog, requests, run_id=run_id, leases=leases)


@contextmanager
def protected(
    lake: Lake, name: str | TableName, *, at: str | int | None = None, seconds: float = 3600.0
) -> Iterator[Snapshot]:
    """A snapshot of a table that a reader protects from care while the block lasts."""
    table = lake.tables.find(name)
    point = _point(lake, table, at)
    stores = lake.stores
    with protect_snapshots(stores.catalog, stores.events, {table: [point.id]}, seconds=seconds):
        yield point


def _point(lake: Lake, table: TableName, at: str | int | None) -> Snapshot:
    metadata = lake.tables.describe(table)
    if at is not None:
        return find_point(table, metadata, str(at))
    head = metadata.head()
    assert head
    return head


def _full_name(table: str | TableName) -> TableName:
    return table if isinstance(table, TableName) else TableName.parse(table)
