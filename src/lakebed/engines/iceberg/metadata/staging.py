"""Writing the next metadata file of a table, before the catalog points at it.

PyIceberg applies the updates.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Literal

from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
from pyiceberg.table.snapshots import MetadataLogEntry, Snapshot
from pyiceberg.table.update import (
    AddSchemaUpdate,
    AddSnapshotUpdate,
    AssertCurrentSchemaId,
    AssertDefaultSpecId,
    AssertRefSnapshotId,
    RemovePropertiesUpdate,
    RemoveSnapshotRefUpdate,
    RemoveSnapshotsUpdate,
    SetCurrentSchemaUpdate,
    SetDefaultSortOrderUpdate,
    SetDefaultSpecUpdate,
    SetPropertiesUpdate,
    SetSnapshotRefUpdate,
    TableRequirement,
    TableUpdate,
    update_table_metadata,
)
from pyiceberg.types import NestedField

from lakebed.engines.iceberg.metadata.documents import (
    changed_document,
    read_document,
    write_document,
)
from lakebed.engines.iceberg.metadata.file_io import open_file_io
from lakebed.engines.iceberg.metadata.snapshot_log import is_ahead, latest_time, with_ordered_times
from lakebed.ports import (
    MAIN,
    NAME,
    UNPUBLISHED,
    AddSnapshot,
    Amendment,
    RefMove,
    RemoveRef,
    RemoveSnapshots,
    SetProperties,
    SetRef,
    SetSchema,
    SetSpec,
)


def moves_forward(move: RefMove, present: IcebergMetadata) -> tuple[TableUpdate, ...]:
    """Updates that move the ref to the branch's head, remove the branch and apply the schema
    change.
    """
    refs: tuple[TableUpdate, ...] = ()
    if move.branch != move.ref:
        placed = (_placed(move.ref, move.to, present),) if move.to != move.base else ()
        refs = (*placed, RemoveSnapshotRefUpdate(ref_name=move.branch))
    named: dict[str, str | None] = (
        {NAME: str(move.becomes), UNPUBLISHED: None} if move.becomes else {}
    )
    return (*refs, *_reshaped(move, present), *_with_properties(named, present))


def moves_back(move: RefMove, present: IcebergMetadata) -> tuple[TableUpdate, ...]:
    """Updates that restore the branch and move the ref back."""
    if move.branch == move.ref:
        return ()
    branch = _placed(move.branch, move.to, present)
    if move.base is None:
        return (branch, RemoveSnapshotRefUpdate(ref_name=move.ref))
    return (branch, _placed(move.ref, move.base, present))


def _placed(
    ref: str, snapshot: int, present: IcebergMetadata, *, kind: Literal["branch", "tag"] = "branch"
) -> SetSnapshotRefUpdate:
    """An update that sets a ref to a snapshot and keeps its retention settings."""
    kept = present.refs.get(ref)
    return SetSnapshotRefUpdate(
        ref_name=ref,
        type=kind,
        snapshot_id=snapshot,
        max_ref_age_ms=kept.max_ref_age_ms if kept else None,
        max_snapshot_age_ms=kept.max_snapshot_age_ms if kept else None,
        min_snapshots_to_keep=kept.min_snapshots_to_keep if kept else None,
    )


def _reshaped(move: RefMove, present: IcebergMetadata) -> tuple[TableUpdate, ...]:
    """The current schema with the move's columns only, in order and renamed; ids stay, and so do
    values.
    """
    schema, names = present.schema(), dict(move.renames)
    kept = tuple(field.name for field in schema.fields) if move.columns is None else move.columns
    fresh = max(known.schema_id for known in present.schemas) + 1
    wanted = Schema(
        *(_called(schema, column, names.get(column, column)) for column in kept), schema_id=fresh
    )
    if wanted.fields == schema.fields:
        return ()
    return (AddSchemaUpdate(schema_=wanted), SetCurrentSchemaUpdate(schema_id=-1))


def _called(schema: Schema, column: str, name: str) -> NestedField:
    """A column with its new name, which it may already have."""
    there = {field.name: field for field in schema.fields}
    return (there.get(column) or there[name]).model_copy(update={"name": name})


def updates_for(
    amendments: Iterable[Amendment], present: IcebergMetadata
) -> tuple[TableUpdate, ...]:
    """Amendments as PyIceberg's updates, without those that change nothing."""
    return tuple(update for amendment in amendments for update in _amended(amendment, present))


def _amended(amendment: Amendment, present: IcebergMetadata) -> Iterator[TableUpdate]:
    match amendment:
        case SetRef(name, snapshot, kind) if (
            name not in present.refs or present.refs[name].snapshot_id != snapshot
        ):
            yield _placed(name, snapshot, present, kind=kind)
        case RemoveRef(name) if name in present.refs:
            yield RemoveSnapshotRefUpdate(ref_name=name)
        case SetSchema(schema) if schema != present.current_schema_id:
            yield SetCurrentSchemaUpdate(schema_id=schema)
            yield from _fitting_arrangement(schema, present)
        case SetSpec(spec) if spec != present.default_spec_id:
            yield SetDefaultSpecUpdate(spec_id=spec)
        case AddSnapshot(snapshot, document) if present.snapshot_by_id(snapshot) is None:
            yield AddSnapshotUpdate(snapshot=Snapshot.model_validate_json(document))
        case RemoveSnapshots(snapshots):
            if gone := {snapshot.snapshot_id for snapshot in present.snapshots} & set(snapshots):
                yield RemoveSnapshotsUpdate(snapshot_ids=sorted(gone))
        case SetProperties(properties):
            yield from _with_properties(properties, present)


def requirements_of(
    amendments: Collection[Amendment], present: IcebergMetadata
) -> tuple[TableRequirement, ...]:
    """Requirements for the commit, without which it could silently undo another commit made in
    between.
    """
    refs = {one.name for one in amendments if isinstance(one, SetRef | RemoveRef)}
    if any(isinstance(one, RemoveSnapshots) for one in amendments):
        refs |= present.refs.keys()
    if any(isinstance(one, AddSnapshot) for one in amendments):
        refs.add(MAIN)  # its number follows those of all snapshots that there were
    stood = {
        name: present.refs[name].snapshot_id if name in present.refs else None
        for name in sorted(refs)
    }
    schema = any(isinstance(one, SetSchema) for one in amendments)
    spec = any(isinstance(one, SetSpec) for one in amendments)
    return (
        *(AssertRefSnapshotId(ref=name, snapshot_id=snapshot) for name, snapshot in stood.items()),
        *((AssertCurrentSchemaId(current_schema_id=present.current_schema_id),) if schema else ()),
        *((AssertDefaultSpecId(default_spec_id=present.default_spec_id),) if spec else ()),
    )


def _fitting_arrangement(schema_id: int, present: IcebergMetadata) -> Iterator[TableUpdate]:
    """Switch to the last partition spec and sort order that do not use a column missing from the
    schema.
    """
    schema = next(one for one in present.schemas if one.schema_id == schema_id)
    known = set(schema.field_ids)
    specs = [
        spec
        for spec in present.partition_specs
        if {field.source_id for field in spec.fields} <= known
    ]
    if specs and present.default_spec_id not in {spec.spec_id for spec in specs}:
        yield SetDefaultSpecUpdate(spec_id=max(spec.spec_id for spec in specs))
    orders = [
        order
        for order in present.sort_orders
        if {field.source_id for field in order.fields} <= known
    ]
    if orders and present.default_sort_order_id not in {order.order_id for order in orders}:
        yield SetDefaultSortOrderUpdate(sort_order_id=max(order.order_id for order in orders))


def _with_properties(
    properties: Mapping[str, str | None], present: IcebergMetadata
) -> Iterator[TableUpdate]:
    if changed := {
        key: value
        for key, value in properties.items()
        if value is not None and present.properties.get(key) != value
    }:
        yield SetPropertiesUpdate(updates=changed)
    if gone := [
        key for key, value in properties.items() if value is None and key in present.properties
    ]:
        yield RemovePropertiesUpdate(removals=gone)


def stage_move(location: str, move: RefMove, *, properties: Mapping[str, str], now: float) -> str:
    """Write the metadata after the move; returns its location, or the current one if nothing
    changes. `now` is the store's time, in seconds since 1970.
    """
    updates = partial(moves_forward, move)
    after = partial(_with_its_schema, move)
    return _stage(location, updates, properties=properties, now=now, after=after)


def _with_its_schema(move: RefMove, metadata: IcebergMetadata) -> IcebergMetadata:
    """Give the published snapshot the schema it was published with, for readers that use its id.

    It was written before columns were renamed. A REST catalog cannot change a snapshot's schema:
    there it keeps the one it was written with, and `TableMetadata` maps the names.
    """
    if move.columns is None and not move.renames:
        return metadata
    current = metadata.current_schema_id
    told = [
        one.model_copy(update={"schema_id": current}) if one.snapshot_id == move.to else one
        for one in metadata.snapshots
    ]
    return metadata.model_copy(update={"snapshots": told})


def stage_amendments(
    location: str, amendments: Iterable[Amendment], *, properties: Mapping[str, str], now: float
) -> str:
    """Write the metadata after the amendments; returns its location, or the current one if nothing
    changes. `now` is the store's time, in seconds since 1970.
    """
    updates = partial(updates_for, amendments)
    return _stage(location, updates, properties=properties, now=now)


def _stage(
    location: str,
    updates: Callable[[IcebergMetadata], tuple[TableUpdate, ...]],
    *,
    properties: Mapping[str, str],
    now: float,
    after: Callable[[IcebergMetadata], IcebergMetadata] = lambda metadata: metadata,
) -> str:
    io = open_file_io(properties, location)
    document, present = read_document(io, location)
    wanted, now_ms = updates(present), int(now * 1000)
    if not wanted and not is_ahead(latest_time(present), now=now_ms):
        return location
    updated = (
        update_table_metadata(present, wanted, metadata_location=location)
        if wanted
        else _with_former_file(present, location)
    )
    changed = with_ordered_times(present, updated, now=now_ms)
    return write_document(
        io, changed_document(document, present, after(changed)), number=_number(location) + 1
    )


def _with_former_file(present: IcebergMetadata, location: str) -> IcebergMetadata:
    """Metadata in which only times will change: PyIceberg adds no file to the log for these."""
    former = MetadataLogEntry(metadata_file=location, timestamp_ms=present.last_updated_ms)
    return present.model_copy(update={"metadata_log": [*present.metadata_log, former]})


def _number(location: str) -> int:
    digits = location.rsplit("/", 1)[-1].split("-", 1)[0]
    return int(digits) if digits.isdigit() else -1


def discard(location: str, *, properties: Mapping[str, str]) -> None:
    """Remove a staged file that was never committed; a failure only leaves an orphan."""
    with suppress(OSError):
        open_file_io(properties, location).delete(location)
