"""Snapshots written out of data files that exist, through PyIceberg.

One manifest at a time is in memory, and none is read once all files are found: a table may have
millions of files.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from pyiceberg.io import FileIO
from pyiceberg.manifest import (
    DataFile,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    read_manifest_list,
)
from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
from pyiceberg.table.snapshots import Operation, Snapshot, UpdateMetrics

from lakebed.engines.iceberg.metadata.documents import read_document
from lakebed.engines.iceberg.metadata.file_io import open_file_io
from lakebed.engines.iceberg.upkeep.adding import added_files
from lakebed.engines.iceberg.upkeep.manifest_entries import read_entries
from lakebed.engines.iceberg.upkeep.new_snapshot import (
    NewSnapshot,
    added,
    deleted,
    existing,
    full_entries,
)
from lakebed.errors import Diverged, UsageError
from lakebed.ports import MAIN, AddedFile, AddSnapshot, Amendment, Pointer
from lakebed.settings import normalized_location

_FORMAT = 2


class IcebergSnapshotWriter:
    """Reads and writes manifests where the table is."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = dict(properties)

    def of_files(self, pointer: Pointer, files: Collection[str]) -> AddSnapshot | None:
        io, present = self._read(pointer)
        head, wanted = _head(present), frozenset(files)
        new, metrics = NewSnapshot(io, present, parent=head), UpdateMetrics()
        kept: list[ManifestFile] = []
        for manifest in _manifests(io, head):
            if manifest.content == ManifestContent.DELETES:
                kept.append(manifest)
            elif metrics.added_data_files < len(wanted) and wanted & _paths(manifest, io):
                entries = (one for one in full_entries(manifest, io) if _path(one) in wanted)
                counted = (existing(one) for one in _counted(entries, metrics.add_file))
                kept.append(new.manifest(manifest.partition_spec_id, counted))
        if not metrics.added_data_files:
            return None
        totals = {
            "total-data-files": str(metrics.added_data_files),
            "total-records": str(metrics.added_records),
            "total-files-size": str(metrics.added_file_size),
        }
        return new.finished(kept, Operation.OVERWRITE, totals)

    def replacing(
        self, pointer: Pointer, *, picked: int, by: int, summary: Mapping[str, str]
    ) -> AddSnapshot:
        io, present = self._read(pointer)
        head = _head(present)
        chosen, fresh = (list(_manifests(io, _at(present, id))) for id in (picked, by))
        diverged = Diverged(str(pointer.table), MAIN, f"snapshot {by}")
        gone = frozenset(path for one in _data(chosen) for path in _paths(one, io))
        if any(one.partition_spec_id != present.default_spec_id for one in _data(fresh)):
            raise diverged
        new, metrics = NewSnapshot(io, present, parent=head), UpdateMetrics()
        kept: list[ManifestFile] = []
        specs = {one.partition_spec_id for one in _data(chosen)}
        for manifest in _manifests(io, head):
            left = metrics.removed_data_files < len(gone)
            if manifest.content == ManifestContent.DELETES:
                if manifest not in chosen:
                    raise diverged
                kept.append(manifest)
            elif left and manifest.partition_spec_id in specs and gone & _paths(manifest, io):
                entries = (
                    _marked(one, gone, new.id, metrics) for one in full_entries(manifest, io)
                )
                kept.append(new.manifest(manifest.partition_spec_id, entries))
            else:
                kept.append(manifest)
        if metrics.removed_data_files != len(gone):
            raise diverged
        for manifest in _data(fresh):
            fresh_ones = _counted(full_entries(manifest, io), metrics.add_file)
            spec = manifest.partition_spec_id
            kept.append(new.manifest(spec, (added(one.data_file, new.id) for one in fresh_ones)))
        told = new.totals(head, metrics) | dict(summary)
        return new.finished(kept, Operation.REPLACE, told)

    def appending(self, pointer: Pointer, *, made: int) -> AddSnapshot:
        io, present = self._read(pointer)
        head, former = _head(present), _at(present, made)
        new, metrics = NewSnapshot(io, present, parent=head), UpdateMetrics()
        kept = list(_manifests(io, head))
        for manifest in _data(_manifests(io, former)):
            if manifest.added_snapshot_id != made:
                continue
            # a manifest may also list files that were there before: Spark merges small ones
            own = [one for one in full_entries(manifest, io) if _was_added(one, made)]
            if own:
                entries = (added(one.data_file, new.id) for one in _counted(own, metrics.add_file))
                kept.append(new.manifest(manifest.partition_spec_id, entries))
        summary = dict(former.summary.additional_properties) if former.summary else {}
        if summary.get("added-data-files", "0") != str(metrics.added_data_files):
            raise Diverged(str(pointer.table), MAIN, f"snapshot {made}")
        return new.finished(kept, Operation.APPEND, summary | new.totals(head, metrics))

    def adding(
        self, pointer: Pointer, files: Iterable[AddedFile], *, summary: Mapping[str, str]
    ) -> tuple[Amendment, ...]:
        io, present = self._read(pointer)
        if present.current_snapshot_id is not None:
            raise Diverged(str(pointer.table), MAIN, "its first snapshot")
        return added_files(io, present, files, summary)

    def _read(self, pointer: Pointer) -> tuple[FileIO, IcebergMetadata]:
        io = open_file_io(self._properties, pointer.location)
        _, present = read_document(io, pointer.location)
        if present.format_version != _FORMAT:
            raise UsageError(
                f"{pointer.table} has Iceberg format version {present.format_version}; files are"
                f" moved in tables of version {_FORMAT} only."
            )
        return io, present


def _head(present: IcebergMetadata) -> Snapshot:
    ref = present.refs.get(MAIN)
    return _at(present, ref.snapshot_id if ref else present.current_snapshot_id)


def _at(present: IcebergMetadata, id: int | None) -> Snapshot:
    found = present.snapshot_by_id(id) if id is not None else None
    if found is None:
        raise UsageError(f"the table has no snapshot {id}.")
    return found


def _manifests(io: FileIO, snapshot: Snapshot) -> Iterator[ManifestFile]:
    return read_manifest_list(io.new_input(snapshot.manifest_list))


def _data(manifests: Iterable[ManifestFile]) -> list[ManifestFile]:
    """Those with files that are part of the table."""
    return [
        one
        for one in manifests
        if one.content == ManifestContent.DATA
        and (one.has_added_files() or one.has_existing_files())
    ]


def _paths(manifest: ManifestFile, io: FileIO) -> frozenset[str]:
    with io.new_input(manifest.manifest_path).open() as file:
        data = file.read()
    return frozenset(one.location for one in read_entries(data, spec=manifest.partition_spec_id))


def _path(entry: ManifestEntry) -> str:
    return normalized_location(entry.data_file.file_path)


def _counted(
    entries: Iterable[ManifestEntry], count: Callable[[DataFile], None]
) -> Iterator[ManifestEntry]:
    for entry in entries:
        count(entry.data_file)
        yield entry


def _was_added(entry: ManifestEntry, snapshot: int) -> bool:
    return entry.status == ManifestEntryStatus.ADDED and entry.snapshot_id == snapshot


def _marked(
    entry: ManifestEntry, gone: Collection[str], snapshot: int, metrics: UpdateMetrics
) -> ManifestEntry:
    if _path(entry) not in gone:
        return existing(entry)
    metrics.remove_file(entry.data_file)
    return deleted(entry, snapshot)
