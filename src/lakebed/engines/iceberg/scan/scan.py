"""Planning a scan: from a pinned metadata file and snapshot to the data files that may have
matching rows.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.metadata.outlines import MetadataOutline
from lakebed.engines.iceberg.pruning.column_bounds import (
    FileStatistics,
    ManifestStatistics,
    partition_fields,
)
from lakebed.engines.iceberg.pruning.file_predicate import FilePredicate, file_predicate
from lakebed.engines.iceberg.scan.changes import changes_between
from lakebed.engines.iceberg.scan.file_values import FileValues
from lakebed.engines.iceberg.scan.footers import Footers
from lakebed.engines.iceberg.scan.manifest_cache import ManifestCache
from lakebed.engines.iceberg.scan.manifest_reader import ManifestReader
from lakebed.engines.iceberg.scan.manifests import Manifest, ManifestEntry
from lakebed.engines.iceberg.scan.planned_file import PlannedFile
from lakebed.engines.iceberg.scan.scan_columns import nested_alike, scan_columns, stored_as_named
from lakebed.errors import DamagedTable
from lakebed.ports import (
    ChangedFile,
    ColumnGroup,
    Pointer,
    Predicate,
    Scan,
    ScanColumn,
    ScanFile,
)
from lakebed.settings import normalized_location


class IcebergScans:
    """Plans scans from manifests, each of which is read once and cached: they never change."""

    def __init__(self, places: FilesByUrl, remembered: ManifestCache) -> None:
        self._reader = ManifestReader(places, remembered)
        self._footers = Footers(places, remembered)

    def plan(
        self,
        pointer: Pointer,
        *,
        snapshot: int | None,
        schema: int | None = None,
        predicate: Predicate | None = None,
        columns: Collection[str] | None = None,
    ) -> Scan:
        outline = self._reader.outline(pointer)
        if snapshot is not None and snapshot not in outline.snapshots:
            raise DamagedTable(
                str(pointer.table), pointer.location, f"it does not know the snapshot {snapshot}."
            )
        fields = outline.schemas[outline.schema if schema is None else schema]
        chosen = scan_columns(str(pointer.table), fields, columns)
        manifests = self._reader.manifests(pointer, outline, snapshot)
        matches = file_predicate(predicate, fields) if predicate is not None else None
        data = [manifest for manifest in manifests if manifest.living and not manifest.deletes]
        kept = list(self._kept(pointer, outline, data, matches))
        entries = [entry for _, some in kept for entry in some]
        files = tuple(PlannedFile(entry, values) for values, some in kept for entry in some)
        total_files, total_bytes = self._totals(pointer, outline, snapshot, data)
        untouched = len(data) == sum(manifest.living for manifest in manifests)
        plain = untouched and not outline.by_name and all(_is_parquet(entry) for entry in entries)
        plain = plain and nested_alike(
            {column.id for column in chosen}, fields, outline.schemas.values()
        )
        shown = tuple(replace(column, nans=_may_hold_nan(column, entries)) for column in chosen)
        stored = self._stored(outline, shown, entries, files) if plain else ()
        return Scan(
            pointer.table,
            snapshot,
            pointer.location,
            shown,
            files,
            total_files,
            total_bytes,
            plain,
            stored,
        )

    def _stored(
        self,
        outline: MetadataOutline,
        columns: Sequence[ScanColumn],
        entries: Sequence[ManifestEntry],
        files: tuple[ScanFile, ...],
    ) -> tuple[ColumnGroup, ...]:
        """How the files store these columns; if the schema never changed, no footer needs to be
        read.
        """
        if outline.never_changed and all(stored_as_named(column.name) for column in columns):
            return (ColumnGroup(tuple(column.name for column in columns), files),)
        return self._footers.stored(columns, list(zip(entries, files, strict=True)))

    def folders(self, pointer: Pointer, *, snapshot: int) -> frozenset[str]:
        outline = self._reader.outline(pointer)
        manifests = self._reader.manifests(pointer, outline, snapshot)
        files = (
            entry.location
            for entries in self._reader.all_entries(pointer, manifests)
            for entry in entries
        )
        places = (
            outline.snapshots[snapshot].manifests,
            *(one.location for one in manifests),
            *files,
        )
        return frozenset(normalized_location(place).rpartition("/")[0] for place in places)

    def changes(
        self, pointer: Pointer, *, since: int, until: int
    ) -> tuple[ChangedFile, ...] | None:
        return changes_between(self._reader, pointer, since=since, until=until)

    def _kept(
        self,
        pointer: Pointer,
        outline: MetadataOutline,
        manifests: Iterable[Manifest],
        matches: FilePredicate | None,
    ) -> Iterator[tuple[FileValues, list[ManifestEntry]]]:
        """The files of each manifest that may match."""
        specs = {id_: partition_fields(spec) for id_, spec in outline.specs.items()}
        wanted = [
            one
            for one in manifests
            if not matches or matches(ManifestStatistics(one, specs.get(one.spec, {})))
        ]
        every = self._reader.all_entries(pointer, wanted)
        for manifest, entries in zip(wanted, every, strict=True):
            parts, values = specs.get(manifest.spec, {}), FileValues(outline, manifest.spec)
            if matches:
                entries = [one for one in entries if matches(FileStatistics(one, parts))]
            yield values, entries

    def _totals(
        self,
        pointer: Pointer,
        outline: MetadataOutline,
        snapshot: int | None,
        manifests: Collection[Manifest],
    ) -> tuple[int, int]:
        """The number and size of data files, from the snapshot's summary or else counted."""
        state = outline.snapshots[snapshot] if snapshot is not None else None
        if state and state.files is not None and state.bytes is not None:
            return state.files, state.bytes
        sizes = [
            entry.size
            for entries in self._reader.all_entries(pointer, manifests)
            for entry in entries
            if entry.data
        ]
        return len(sizes), sum(sizes)


def _may_hold_nan(column: ScanColumn, entries: Iterable[ManifestEntry]) -> bool:
    return column.type in ("float", "double") and any(
        entry.nans.get(column.id) != 0 for entry in entries
    )


def _is_parquet(entry: ManifestEntry) -> bool:
    return entry.data and entry.format == "PARQUET" and not entry.encrypted
