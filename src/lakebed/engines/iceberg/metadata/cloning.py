"""The metadata of a clone: the same files under a new identity."""

from collections.abc import Mapping
from uuid import uuid4

from pyiceberg.io import load_file_io
from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRef, SnapshotRefType
from pyiceberg.table.snapshots import SnapshotLogEntry

from lakebed.derived.identity import DERIVED_TABLES
from lakebed.engines.iceberg.metadata.documents import (
    changed_document,
    read_document,
    write_document,
)
from lakebed.errors import UnknownName
from lakebed.ports import LEDGER_DECISION, NAME


def write_clone(location: str, *, snapshot: int, to: str, properties: Mapping[str, str]) -> str:
    """Write the first metadata file of a clone at `to`, at this snapshot; returns its location."""
    io = load_file_io(dict(properties), location)
    document, present = read_document(io, location)
    return write_document(
        io, changed_document(document, present, cloned(present, snapshot=snapshot, to=to)), number=0
    )


def cloned(present: IcebergMetadata, *, snapshot: int, to: str) -> IcebergMetadata:
    """Metadata with this snapshot only, and a new identity."""
    found = present.snapshot_by_id(snapshot)
    if found is None:
        raise UnknownName(
            "snapshot", str(snapshot), [str(one.snapshot_id) for one in present.snapshots]
        )
    schema = found.schema_id
    # columns may have changed since, without a commit
    if schema is None or snapshot == present.current_snapshot_id:
        schema = present.current_schema_id
    return present.model_copy(
        update={
            "table_uuid": uuid4(),
            "location": to,
            "current_schema_id": schema,
            "snapshots": [found.model_copy(update={"parent_snapshot_id": None})],
            "current_snapshot_id": snapshot,
            "refs": {MAIN_BRANCH: _branch_at(snapshot)},
            "snapshot_log": [
                SnapshotLogEntry(snapshot_id=snapshot, timestamp_ms=present.last_updated_ms)
            ],
            "metadata_log": [],
            "statistics": [],
            "partition_statistics": [],
            "properties": _own_properties(present),
        }
    )


def _own_properties(present: IcebergMetadata) -> dict[str, str]:
    """The properties of the source table, without its name, its layouts and its ledger."""
    own = {NAME, DERIVED_TABLES, LEDGER_DECISION}
    return {key: value for key, value in present.properties.items() if key not in own}


def _branch_at(snapshot: int) -> SnapshotRef:
    kept = {"min_snapshots_to_keep": None, "max_snapshot_age_ms": None, "max_ref_age_ms": None}
    return SnapshotRef(snapshot_id=snapshot, snapshot_ref_type=SnapshotRefType.BRANCH, **kept)
