"""What Lakebed asks of the outside: protocols, and the value types in their signatures."""

from lakebed.ports.catalog import NOTHING_ALONG, Catalog, Publication, RefMove
from lakebed.ports.compute import Compute, Field, FileGroup, FileRows, Frame, Unreadable
from lakebed.ports.files import FileInfo, Files
from lakebed.ports.leases import Lease, Leases
from lakebed.ports.records import (
    Along,
    ConsumedFile,
    InputPin,
    Phase,
    Records,
    RunRecord,
    RunState,
    SetAside,
    Severity,
    Verdict,
)
from lakebed.ports.tables import MAIN, RUN_ID, Column, Pointer, Snapshot, SnapshotRef, TableMetadata

__all__ = [
    "MAIN",
    "NOTHING_ALONG",
    "RUN_ID",
    "Along",
    "Catalog",
    "Column",
    "Compute",
    "ConsumedFile",
    "Field",
    "FileGroup",
    "FileInfo",
    "FileRows",
    "Files",
    "Frame",
    "InputPin",
    "Lease",
    "Leases",
    "Phase",
    "Pointer",
    "Publication",
    "Records",
    "RefMove",
    "RunRecord",
    "RunState",
    "SetAside",
    "Severity",
    "Snapshot",
    "SnapshotRef",
    "TableMetadata",
    "Unreadable",
    "Verdict",
]
