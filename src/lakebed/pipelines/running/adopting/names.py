"""Adopted files keep the names of their columns, whatever an ALTER TABLE has made of them."""

from lakebed.names import TableName
from lakebed.pipelines.services import RunServices
from lakebed.ports import Lease
from lakebed.tables.adopting.names import names_to_restore
from lakebed.work import retry


def restore_names(table: TableName, services: RunServices, *, lease: Lease) -> None:
    """After an ALTER TABLE by Spark, which rewrites the mapping of names."""
    catalog = services.ports.catalog

    def attempt() -> None:
        seen = catalog.pointers([table])
        metadata = catalog.metadata(seen.values()).get(table)
        if metadata and (change := names_to_restore(metadata)):
            catalog.amend(table, change, expected=seen[table], leases=[lease])

    retry(attempt)
