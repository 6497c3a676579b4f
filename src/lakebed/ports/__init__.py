"""What Lakebed asks of the outside: protocols, and the value types in their signatures."""

from lakebed.ports.catalog import Catalog, Publication, RefMove
from lakebed.ports.files import FileInfo, Files
from lakebed.ports.leases import Lease, Leases
from lakebed.ports.tables import MAIN, RUN_ID, Column, Pointer, Snapshot, SnapshotRef, TableMetadata

__all__ = [
    "MAIN",
    "RUN_ID",
    "Catalog",
    "Column",
    "FileInfo",
    "Files",
    "Lease",
    "Leases",
    "Pointer",
    "Publication",
    "RefMove",
    "Snapshot",
    "SnapshotRef",
    "TableMetadata",
]
