"""What Lakebed asks of the outside: protocols, and the value types in their signatures."""

from lakebed.ports.catalog.amendments import (
    Amendment,
    RemoveRef,
    RemoveSnapshots,
    SetProperties,
    SetRef,
    SetSchema,
)
from lakebed.ports.catalog.catalog import Catalog, DroppedTable, Publication, RefMove
from lakebed.ports.catalog.commit_records import (
    NO_CHANGE_RECORDS,
    NO_PUBLICATION_RECORDS,
    ChangeRecords,
    PublicationRecords,
)
from lakebed.ports.catalog.pointer_rows import PointerChange, PointerRow, PointerRows
from lakebed.ports.catalog.tables import (
    MAIN,
    NAME,
    OWN_COLUMNS,
    RUN_ID,
    UNPUBLISHED,
    Column,
    ColumnAlias,
    ForeignTable,
    Pointer,
    Snapshot,
    SnapshotRef,
    TableMetadata,
    ViewMetadata,
)
from lakebed.ports.files.files import FileInfo, Files
from lakebed.ports.rows.compute import Compute
from lakebed.ports.rows.frames import Field, Frame
from lakebed.ports.rows.landing_reader import FileGroup, FileRows, LandingReader, UnreadableFiles
from lakebed.ports.rows.local_session import LocalSession
from lakebed.ports.rows.predicates import (
    Always,
    And,
    Comparison,
    In,
    IsNull,
    Not,
    Operator,
    Or,
    Predicate,
    StartsWith,
)
from lakebed.ports.rows.query_rows import OperatorProfile, QueryRows
from lakebed.ports.rows.scans import ColumnGroup, Scan, ScanColumn, ScanFile, Scans
from lakebed.ports.state.care_log import CareEntry, CareLog, CareState
from lakebed.ports.state.events import (
    Event,
    EventKind,
    Events,
    RecordedEvent,
    RegisteredFollower,
    SnapshotProtection,
)
from lakebed.ports.state.leases import Lease, Leases
from lakebed.ports.state.ledger import (
    ColumnTypeChange,
    ConsumedFile,
    FileState,
    FileStateChange,
    MovedFile,
    ZoneTypes,
)
from lakebed.ports.state.records import Records
from lakebed.ports.state.releases import Draft, Release, Releases
from lakebed.ports.state.runs import (
    InputPin,
    Phase,
    QuarantinedFile,
    RunRecord,
    RunState,
    RunSummary,
    Severity,
    Verdict,
)
from lakebed.ports.upkeep.archive import DatabaseArchive
from lakebed.ports.upkeep.audit import Audit, Checksum, PinRow
from lakebed.ports.upkeep.inspection import DamagedFile, FileContent, FileInspector, MetadataFile
from lakebed.ports.upkeep.reach import ReachableFile, ReachableFiles, ReachableKind
from lakebed.ports.upkeep.relocation import RelocatedTable, TableRelocator

__all__ = [
    "MAIN",
    "NAME",
    "NO_CHANGE_RECORDS",
    "NO_PUBLICATION_RECORDS",
    "OWN_COLUMNS",
    "RUN_ID",
    "UNPUBLISHED",
    "Always",
    "Amendment",
    "And",
    "Audit",
    "CareEntry",
    "CareLog",
    "CareState",
    "Catalog",
    "ChangeRecords",
    "Checksum",
    "Column",
    "ColumnAlias",
    "ColumnGroup",
    "ColumnTypeChange",
    "Comparison",
    "Compute",
    "ConsumedFile",
    "DamagedFile",
    "DatabaseArchive",
    "Draft",
    "DroppedTable",
    "Event",
    "EventKind",
    "Events",
    "Field",
    "FileContent",
    "FileGroup",
    "FileInfo",
    "FileInspector",
    "FileRows",
    "FileState",
    "FileStateChange",
    "Files",
    "ForeignTable",
    "Frame",
    "In",
    "InputPin",
    "IsNull",
    "LandingReader",
    "Lease",
    "Leases",
    "LocalSession",
    "MetadataFile",
    "MovedFile",
    "Not",
    "Operator",
    "OperatorProfile",
    "Or",
    "Phase",
    "PinRow",
    "Pointer",
    "PointerChange",
    "PointerRow",
    "PointerRows",
    "Predicate",
    "Publication",
    "PublicationRecords",
    "QuarantinedFile",
    "QueryRows",
    "ReachableFile",
    "ReachableFiles",
    "ReachableKind",
    "RecordedEvent",
    "Records",
    "RefMove",
    "RegisteredFollower",
    "Release",
    "Releases",
    "RelocatedTable",
    "RemoveRef",
    "RemoveSnapshots",
    "RunRecord",
    "RunState",
    "RunSummary",
    "Scan",
    "ScanColumn",
    "ScanFile",
    "Scans",
    "SetProperties",
    "SetRef",
    "SetSchema",
    "Severity",
    "Snapshot",
    "SnapshotProtection",
    "SnapshotRef",
    "StartsWith",
    "TableMetadata",
    "TableRelocator",
    "UnreadableFiles",
    "Verdict",
    "ViewMetadata",
    "ZoneTypes",
]
