"""The files of a new snapshot: its manifests, its manifest list, and its entry in the metadata."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from uuid import uuid4

from pyiceberg.avro.codecs import AvroCompressionCodec
from pyiceberg.avro.file import AvroFile
from pyiceberg.io import FileIO
from pyiceberg.manifest import (
    DEFAULT_READ_VERSION,
    MANIFEST_ENTRY_SCHEMAS,
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    _inherit_from_manifest,
    write_manifest,
    write_manifest_list,
)
from pyiceberg.schema import Schema
from pyiceberg.table.locations import load_location_provider
from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
from pyiceberg.table.snapshots import (
    Operation,
    Snapshot,
    Summary,
    UpdateMetrics,
    update_snapshot_summaries,
)
from pyiceberg.typedef import StructProtocol

from lakebed.ports import AddSnapshot

_CODEC: AvroCompressionCodec = "deflate"
# by field id of Iceberg's specification
_TYPES: dict[int, Callable[..., StructProtocol]] = {-1: ManifestEntry, 2: DataFile}
_ENUMS: dict[int, Callable[..., Enum]] = {
    0: ManifestEntryStatus,
    101: FileFormat,
    134: DataFileContent,
}


class NewSnapshot:
    """A snapshot that is being written on top of `parent`, or as the first one."""

    def __init__(self, io: FileIO, present: IcebergMetadata, *, parent: Snapshot | None) -> None:
        self.id = present.new_snapshot_id()
        self._io, self._present, self._parent = io, present, parent
        self._places = load_location_provider(present.location, present.properties)
        self._uuid, self._written = uuid4(), 0

    def manifest(self, spec: int, entries: Iterable[ManifestEntry]) -> ManifestFile:
        """Write a manifest of data files with this partition spec; there is at least one entry."""
        place = self._place(f"{self._uuid}-m{self._written}.avro")
        self._written += 1
        fields = self._present.specs()[spec]
        schema = self._schema({field.source_id for field in fields.fields})
        output = self._io.new_output(place)
        with write_manifest(2, fields, schema, output, self.id, _CODEC) as writer:
            for entry in entries:
                writer.add_entry(entry)
        return writer.to_manifest_file()

    def _schema(self, columns: set[int]) -> Schema:
        """The present schema, or the last one that has all columns of a partition spec."""
        known = sorted(self._present.schemas, key=lambda one: one.schema_id)
        for schema in (self._present.schema(), *reversed(known)):
            if columns <= set(schema.field_ids):
                return schema
        return self._present.schema()

    def totals(self, before: Snapshot, metrics: UpdateMetrics) -> dict[str, str]:
        """What a summary tells of the files that came and went, and of all there are now."""
        counted = Summary(operation=Operation.OVERWRITE, **metrics.to_dict())
        summed = update_snapshot_summaries(counted, before.summary)
        return dict(summed.additional_properties)

    def finished(
        self, manifests: Sequence[ManifestFile], operation: Operation, summary: Mapping[str, str]
    ) -> AddSnapshot:
        """Write the manifest list; the snapshot is complete."""
        sequence = self._present.next_sequence_number()
        place = self._place(f"snap-{self.id}-0-{self._uuid}.avro")
        parent = self._parent.snapshot_id if self._parent else None
        output = self._io.new_output(place)
        with write_manifest_list(2, output, self.id, parent, sequence, _CODEC) as writer:
            writer.add_manifests(list(manifests))
        snapshot = Snapshot(
            snapshot_id=self.id,
            parent_snapshot_id=parent,
            sequence_number=sequence,
            timestamp_ms=max(int(time.time() * 1000), self._present.last_updated_ms),
            manifest_list=place,
            summary=Summary(operation=operation, **summary),
            schema_id=self._present.current_schema_id,
        )
        return AddSnapshot(self.id, snapshot.model_dump_json())

    def _place(self, name: str) -> str:
        return self._places.new_metadata_location(name)


def full_entries(manifest: ManifestFile, io: FileIO) -> Iterator[ManifestEntry]:
    """The entries of a manifest that are part of the table, one at a time, with all metrics."""
    schema = MANIFEST_ENTRY_SCHEMAS[DEFAULT_READ_VERSION]
    source = io.new_input(manifest.manifest_path)
    with AvroFile[ManifestEntry](source, schema, _TYPES, _ENUMS) as entries:
        for entry in entries:
            if entry.status != ManifestEntryStatus.DELETED:
                yield _inherit_from_manifest(entry, manifest)


def existing(entry: ManifestEntry) -> ManifestEntry:
    """The entry of a file that stays as it was."""
    return _entry(entry, ManifestEntryStatus.EXISTING, entry.snapshot_id)


def deleted(entry: ManifestEntry, snapshot: int) -> ManifestEntry:
    """The entry of a file that a snapshot removes."""
    return _entry(entry, ManifestEntryStatus.DELETED, snapshot)


def added(file: DataFile, snapshot: int) -> ManifestEntry:
    """The entry of a file that a snapshot adds: it has the snapshot's own number."""
    return ManifestEntry.from_args(
        status=ManifestEntryStatus.ADDED,
        snapshot_id=snapshot,
        sequence_number=None,
        file_sequence_number=None,
        data_file=file,
    )


def _entry(
    entry: ManifestEntry, status: ManifestEntryStatus, snapshot: int | None
) -> ManifestEntry:
    return ManifestEntry.from_args(
        status=status,
        snapshot_id=snapshot,
        sequence_number=entry.sequence_number,
        file_sequence_number=entry.file_sequence_number,
        data_file=entry.data_file,
    )
