"""What commits do to a table's metadata, for the catalog in memory."""

import json
from dataclasses import replace
from datetime import UTC, datetime

from lakebed.ports import (
    MAIN,
    AddSnapshot,
    Amendment,
    RefMove,
    RemoveRef,
    RemoveSnapshots,
    SetProperties,
    SetRef,
    SetSchema,
    SetSpec,
    Snapshot,
    SnapshotRef,
    TableMetadata,
)


def moved(present: TableMetadata, move: RefMove) -> TableMetadata:
    """A table's metadata after a publication: the ref moved, the branch gone, columns dropped and
    renamed.
    """
    refs = {name: ref for name, ref in present.refs.items() if name != move.branch}
    refs[move.ref] = SnapshotRef(move.ref, move.to, "branch")
    by_name = {column.name: column for column in present.columns}
    new_names = dict(move.renames)
    kept = tuple(by_name) if move.columns is None else move.columns
    columns = tuple(replace(by_name[name], name=new_names.get(name, name)) for name in kept)
    return replace(present, refs=refs, columns=columns)


def cloned(source: TableMetadata, snapshot: int) -> TableMetadata:
    """The metadata of a table that begins with one snapshot of another."""
    alone = {snapshot: replace(source.snapshots[snapshot], parent=None)}
    return replace(source, snapshots=alone, refs={MAIN: SnapshotRef(MAIN, snapshot, "branch")})


def amended(present: TableMetadata, amendment: Amendment) -> TableMetadata:
    """A table's metadata after one amendment."""
    match amendment:
        case SetRef(name, snapshot, kind):
            return replace(present, refs={**present.refs, name: SnapshotRef(name, snapshot, kind)})
        case RemoveRef(name):
            return replace(
                present, refs={key: ref for key, ref in present.refs.items() if key != name}
            )
        case SetSchema(schema):
            return replace(present, schema=schema)
        case SetSpec(spec):
            return replace(present, spec=spec)
        case AddSnapshot(id, document):
            return replace(present, snapshots={**present.snapshots, id: _snapshot(document)})
        case RemoveSnapshots(gone):
            return replace(
                present,
                snapshots={key: one for key, one in present.snapshots.items() if key not in gone},
            )
        case SetProperties(properties):
            merged = {**present.properties, **properties}
            return replace(
                present,
                properties={key: value for key, value in merged.items() if value is not None},
            )


def _snapshot(document: str) -> Snapshot:
    told = json.loads(document)
    summary = dict(told.get("summary") or {})
    return Snapshot(
        told["snapshot-id"],
        told.get("parent-snapshot-id"),
        datetime.fromtimestamp(told["timestamp-ms"] / 1000, UTC),
        summary.pop("operation", "unknown"),
        summary,
        told.get("schema-id"),
        told.get("sequence-number") or 0,
    )
