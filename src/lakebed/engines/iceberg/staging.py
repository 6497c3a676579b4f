"""The next metadata file of a table, written beside the present one and not yet pointed at. PyIceberg does it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress

from pyiceberg.io import FileIO, load_file_io
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromInputFile, ToOutputFile
from pyiceberg.table.locations import load_location_provider
from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
from pyiceberg.table.update import (
    AddSchemaUpdate,
    RemoveSnapshotRefUpdate,
    SetCurrentSchemaUpdate,
    SetSnapshotRefUpdate,
    TableUpdate,
    update_table_metadata,
)

from lakebed.ports import RefMove


def moves_forward(move: RefMove, present: IcebergMetadata) -> tuple[TableUpdate, ...]:
    """The ref goes to the branch's head, the branch goes away, and the columns become what they are to be."""
    refs: tuple[TableUpdate, ...] = ()
    if move.branch != move.ref:
        refs = (_placed(move.ref, move.to, present), RemoveSnapshotRefUpdate(ref_name=move.branch))
    return refs if move.columns is None else (*refs, *_reshaped(move.columns, present))


def moves_back(move: RefMove, present: IcebergMetadata) -> tuple[TableUpdate, ...]:
    """The branch comes back, and the ref goes to where it was."""
    if move.branch == move.ref:
        return ()
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


def _reshaped(columns: Iterable[str], present: IcebergMetadata) -> tuple[TableUpdate, ...]:
    """The present schema with these columns only, in this order."""
    schema = present.schema()
    fresh = max(known.schema_id for known in present.schemas) + 1
    wanted = Schema(*(schema.find_field(column, case_sensitive=True) for column in columns), schema_id=fresh)
    if wanted.fields == schema.fields:
        return ()
    return (AddSchemaUpdate(schema_=wanted), SetCurrentSchemaUpdate(schema_id=-1))


def tidied(branches: Collection[str], schema: int | None, present: IcebergMetadata) -> tuple[TableUpdate, ...]:
    """These branches go, and this schema comes back; what is so already needs no update."""
    gone = tuple(RemoveSnapshotRefUpdate(ref_name=branch) for branch in branches if branch in present.refs)
    if schema is None or schema == present.current_schema_id:
        return gone
    return (*gone, SetCurrentSchemaUpdate(schema_id=schema))


def stage_move(location: str, move: RefMove, *, properties: Mapping[str, str]) -> str:
    """Write the metadata as it will be after the move; returns where it lies, or the present place if nothing changes."""
    return _stage(location, lambda present: moves_forward(move, present), properties=properties)


def stage_tidy(location: str, branches: Collection[str], schema: int | None, *, properties: Mapping[str, str]) -> str:
    """The same for `tidied`."""
    return _stage(location, lambda present: tidied(branches, schema, present), properties=properties)


def _stage(location: str, updates: Callable[[IcebergMetadata], tuple[TableUpdate, ...]], *, properties: Mapping[str, str]) -> str:
    io = load_file_io(dict(properties), location)
    present = FromInputFile.table_metadata(io.new_input(location))
    wanted = updates(present)
    if not wanted:
        return location
    return _written(io, update_table_metadata(present, wanted, metadata_location=location), number=_number(location) + 1)


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
