"""What Lakebed asks of the outside: protocols, and the value types in their signatures."""

from lakebed.ports.amendments import Amendment, RemoveRef, RemoveSnapshots, SetProperties, SetRef, SetSchema
from lakebed.ports.archive import DatabaseArchive
from lakebed.ports.audit import Audit, Checksum, PinRow
from lakebed.ports.care import CareEntry, CareLog, CareState
from lakebed.ports.catalog import Catalog, DroppedTable, Publication, RefMove
from lakebed.ports.commit_records import NO_CHANGE_RECORDS, NO_PUBLICATION_RECORDS, ChangeRecords, PublicationRecords
from lakebed.ports.compute import Compute
from lakebed.ports.events import Event, EventKind, Events, RecordedEvent, SnapshotProtection
from lakebed.ports.files import FileInfo, Files
from lakebed.ports.frames import Field, Frame
from lakebed.ports.inspection import DamagedFile, FileContent, FileInspector, MetadataFile
from lakebed.ports.landing_reader import FileGroup, FileRows, LandingReader, UnreadableFiles
from lakebed.ports.leases import Lease, Leases
from lakebed.ports.ledger import ColumnTypeChange, ConsumedFile, FileState, FileStateChange, MovedFile, ZoneTypes
from lakebed.ports.local_session import LocalSession
from lakebed.ports.pointer_rows import PointerChange, PointerRow, PointerRows
from lakebed.ports.predicates import Always, And, Comparison, In, IsNull, Not, Operator, Or, Predicate, StartsWith
from lakebed.ports.query_rows import OperatorProfile, QueryRows
from lakebed.ports.reach import ReachableFile, ReachableFiles, ReachableKind
from lakebed.ports.records import Records
from lakebed.ports.releases import Draft, Release, Releases
from lakebed.ports.relocation import RelocatedTable, TableRelocator
from lakebed.ports.runs import InputPin, Phase, QuarantinedFile, RunRecord, RunState, RunSummary, Severity, Verdict
from lakebed.ports.scans import ColumnGroup, Scan, ScanColumn, ScanFile, Scans
from lakebed.ports.tables import (
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
