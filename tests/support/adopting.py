"""Adopting files without Spark: the commit that `lake.adopt` makes, on a table that is there."""

from collections.abc import Mapping, Sequence

from lakebed.app.stores import Stores
from lakebed.names import TableName
from lakebed.ports import ADOPTED_FROM, AddedFile, SetProperties


def adopt_files(
    stores: Stores,
    table: TableName,
    files: Sequence[AddedFile],
    *,
    folder: str,
    summary: Mapping[str, str] | None = None,
) -> None:
    """Make the files part of an empty table."""
    pointer = stores.catalog.pointers([table])[table]
    added = stores.snapshots.adding(pointer, files, summary=summary or {})
    owner = SetProperties({ADOPTED_FROM: folder, "gc.enabled": "false"})
    stores.catalog.amend(table, [*added, owner], expected=pointer)
