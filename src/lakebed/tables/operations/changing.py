"""What every change of a table by hand begins with."""

from collections.abc import Iterator
from contextlib import contextmanager

from lakebed.names import TableName
from lakebed.tables.operations.alters import settle_alters
from lakebed.tables.publishing.lease import HeldLease
from lakebed.tables.publishing.publish import settle_publications
from lakebed.tables.services import TableServices


@contextmanager
def changing(
    services: TableServices, table: TableName, *, wait: float = 0.0
) -> Iterator[HeldLease]:
    """The lease of a table, in a lake that is where its tables are; what dead processes left
    unsettled is settled.
    """
    services.placement.require_relocated(table)
    ports = services.ports
    with services.lease(table, wait=wait) as held:
        settle_publications(ports.catalog)
        settle_alters(ports.catalog, ports.records, ports.leases, table=table)
        yield held
