"""Whether amendments were committed: told by the table's metadata files."""

from collections.abc import Collection, Iterator
from contextlib import suppress

from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata as IcebergMetadata

from lakebed.engines.iceberg.metadata.documents import read_document
from lakebed.engines.iceberg.metadata.staging import updates_for
from lakebed.ports import Amendment


def took_effect(table: Table, amendments: Collection[Amendment], *, since: str) -> bool:
    """Whether the amendments are in effect, or were at a time since a metadata file that they were
    planned on.

    Others may have moved the same refs since: the earlier metadata files tell. If another writer
    has made the same change, the two cannot be told apart.
    """
    if table.metadata_location == since:
        return False
    return any(not updates_for(amendments, state) for state in _states(table, since))


def _states(table: Table, since: str) -> Iterator[IcebergMetadata]:
    """The table's metadata after a file, newest first, as far as its files still exist."""
    yield table.metadata
    files = [entry.metadata_file for entry in table.metadata.metadata_log]
    later = files[files.index(since) + 1 :] if since in files else files
    for location in reversed(later):
        with suppress(OSError):
            _, metadata = read_document(table.io, location)
            yield metadata
