"""The next metadata file of a table, written beside the present one and not yet pointed at. PyIceberg does it."""

from collections.abc import Mapping
from contextlib import suppress

from pyiceberg.io import FileIO, load_file_io
from pyiceberg.serializers import FromInputFile, ToOutputFile
from pyiceberg.table.locations import load_location_provider
from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
from pyiceberg.table.update import (
    RemoveSnapshotRefUpdate,
    SetSnapshotRefUpdate,
    TableUpdate,
    update_table_metadata,
)

from lakebed.ports import RefMove


def moves_forward(move: RefMove, present: IcebergMetadata) -> tuple[TableUpdate, ...]:
    """The ref goes to the branch's head, and the branch goes away."""
    return (_placed(move.ref, move.to, present), RemoveSnapshotRefUpdate(ref_name=move.branch))


def moves_back(move: RefMove, present: IcebergMetadata) -> tuple[TableUpdate, ...]:
    """The branch comes back, and the ref goes to where it was."""
    branch = _placed(move.branch, move.to, present)
    if move.base is None:
        return (branch, RemoveSnapshotRefUpdate(ref_name=move.ref))
    return (branch, _placed(move.ref, move.base, present))


def _placed(ref: str, snapshot: int, present: IcebergMetadata) -> SetSnapshotRefUpdate:
    """The ref at a snapshot; how long it and its snapshots are kept stays as it was."""
    kept = present.refs.get(ref)
    return SetSnapshotRefUpdate(
        ref_name=ref,
        type="branch",
        snapshot_id=snapshot,
        max_ref_age_ms=kept.max_ref_age_ms if kept else None,
        max_snapshot_age_ms=kept.max_snapshot_age_ms if kept else None,
        min_snapshots_to_keep=kept.min_snapshots_to_keep if kept else None,
    )


def stage_move(location: str, move: RefMove, *, properties: Mapping[str, str]) -> str:
    """Write the metadata as it will be after the move; returns where it lies."""
    io = load_file_io(dict(properties), location)
    present = FromInputFile.table_metadata(io.new_input(location))
    changed = update_table_metadata(present, moves_forward(move, present), metadata_location=location)
    return _written(io, changed, number=_number(location) + 1)


def _written(io: FileIO, metadata: IcebergMetadata, *, number: int) -> str:
    place = load_location_provider(metadata.location, metadata.properties).new_table_metadata_file_location(number)
    ToOutputFile.table_metadata(metadata, io.new_output(place))
    return place


def _number(location: str) -> int:
    digits = location.rsplit("/", 1)[-1].split("-", 1)[0]
    return int(digits) if digits.isdigit() else -1


def discard(location: str, *, properties: Mapping[str, str]) -> None:
    """Remove a staged file that nothing came to point at; a failure only leaves an orphan."""
    with suppress(OSError):
        load_file_io(dict(properties), location).delete(location)
