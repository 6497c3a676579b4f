"""Planning a scan: from a pinned metadata file and snapshot to the data files that may have
matching rows.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock
from typing import TypeVar

from cachetools import LRUCache, cachedmethod

from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.metadata.outlines import MetadataOutline, read_outline
from lakebed.engines.iceberg.metadata.parsing import Json, refuse_newer
from lakebed.engines.iceberg.metadata.reading import document_of
from lakebed.engines.iceberg.pruning.column_bounds import (
    FileStatistics,
    ManifestStatistics,
    partition_fields,
)
from lakebed.engines.iceberg.pruning.file_predicate import FilePredicate, file_predicate
from lakebed.engines.iceberg.scan.footers import Footers
from lakebed.engines.iceberg.scan.manifest_cache import ManifestCache
from lakebed.engines.iceberg.scan.manifests import (
    Manifest,
    ManifestEntry,
    as_entries,
    as_manifests,
    read_entries,
    read_list,
)
from lakebed.engines.iceberg.scan.scan_columns import nested_alike, scan_columns, stored_as_named
from lakebed.errors import DamagedTable, FileMissing, LakebedError
from lakebed.ports import ColumnGroup, Pointer, Predicate, Scan, ScanColumn, ScanFile
from lakebed.settings import normalized_location

_AT_ONCE = 8
_OUTLINES = 64  # parsed metadata files in the cache
T = TypeVar("T")


class IcebergScans:
    """Plans scans from manifests, each of which is read once and cached: they never change."""

    def __init__(self, places: FilesByUrl, remembered: ManifestCache) -> None:
        self._places, self._remembered, self._footers = (
            places,
            remembered,
            Footers(places, remembered),
        )
        self._outlines: LRUCache[str, MetadataOutline] = LRUCache(_OUTLINES)
        self._lock = Lock()

    def plan(
        self,
        pointer: Pointer,
        *,
        snapshot: int | None,
        schema: int | None = None,
        predicate: Predicate | None = None,
        columns: Collection[str] | None = None,
    ) -> Scan:
        outline = self._outline(pointer)
        if snapshot is not None and snapshot not in outline.snapshots:
            raise DamagedTable(
                str(pointer.table), pointer.location, f"it does not know the snapshot {snapshot}."
            )
        fields = outline.schemas[outline.schema if schema is None else schema]
        chosen = scan_columns(str(pointer.table), fields, columns)
        manifests = self._manifests(pointer, outline, snapshot)
        matches = file_predicate(predicate, fields) if predicate is not None else None
        data = [manifest for manifest in manifests if manifest.living and not manifest.deletes]
        entries = list(self._kept(pointer, outline, data, matches))
        files = tuple(
            ScanFile(entry.location, entry.size, entry.rows, entry.offsets) for entry in entries
        )
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
        outline = self._outline(pointer)
        manifests = self._manifests(pointer, outline, snapshot)
        files = (
            entry.location for entries in self._read_all(pointer, manifests) for entry in entries
        )
        places = (
            outline.snapshots[snapshot].manifests,
            *(one.location for one in manifests),
            *files,
        )
        return frozenset(normalized_location(place).rpartition("/")[0] for place in places)

    @cachedmethod(
        lambda self: self._outlines,
        key=lambda _, pointer: pointer.location,
        lock=lambda self: self._lock,
    )
    def _outline(self, pointer: Pointer) -> MetadataOutline:
        place = pointer.location
        return self._reading(
            pointer, place, lambda data: read_outline(_known(document_of(data), place))
        )

    def _manifests(
        self, pointer: Pointer, outline: MetadataOutline, snapshot: int | None
    ) -> list[Manifest]:
        if snapshot is None:
            return []
        place = outline.snapshots[snapshot].manifests
        return as_manifests(
            self._remembered.get("list", place, lambda: self._reading(pointer, place, read_list))
        )

    def _kept(
        self,
        pointer: Pointer,
        outline: MetadataOutline,
        manifests: Iterable[Manifest],
        matches: FilePredicate | None,
    ) -> Iterator[ManifestEntry]:
        specs = {id_: partition_fields(spec) for id_, spec in outline.specs.items()}
        wanted = [
            one
            for one in manifests
            if not matches or matches(ManifestStatistics(one, specs.get(one.spec, {})))
        ]
        for manifest, entries in zip(wanted, self._read_all(pointer, wanted), strict=True):
            parts = specs.get(manifest.spec, {})
            yield from (
                entry for entry in entries if not matches or matches(FileStatistics(entry, parts))
            )

    def _read_all(
        self, pointer: Pointer, manifests: Collection[Manifest]
    ) -> Iterable[list[ManifestEntry]]:
        """Several at once where each takes a request."""
        if len(manifests) > 1 and normalized_location(pointer.location).startswith("s3://"):
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                return list(pool.map(lambda manifest: self._entries(pointer, manifest), manifests))
        return (self._entries(pointer, manifest) for manifest in manifests)

    def _entries(self, pointer: Pointer, manifest: Manifest) -> list[ManifestEntry]:
        place = manifest.location
        read = lambda: self._reading(pointer, place, read_entries)  # noqa: E731
        return as_entries(self._remembered.get("manifest", f"{place}\n{manifest.length}", read))

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
            for entries in self._read_all(pointer, manifests)
            for entry in entries
            if entry.data
        ]
        return len(sizes), sum(sizes)

    def _reading(self, pointer: Pointer, place: str, read: Callable[[bytes], T]) -> T:
        try:
            return read(self._places.read(place))
        except FileMissing:
            raise DamagedTable(str(pointer.table), place, "there is no such file.") from None
        except LakebedError:
            raise
        except Exception as error:  # whatever readers raise on bytes that are neither Avro nor JSON
            raise DamagedTable(
                str(pointer.table), place, f"{type(error).__name__}: {error}."
            ) from error


def _known(document: Json, place: str) -> Json:
    """The document, unless its format version is unknown."""
    refuse_newer(document, place)
    return document


def _may_hold_nan(column: ScanColumn, entries: Iterable[ManifestEntry]) -> bool:
    return column.type in ("float", "double") and any(
        entry.nans.get(column.id) != 0 for entry in entries
    )


def _is_parquet(entry: ManifestEntry) -> bool:
    return entry.data and entry.format == "PARQUET" and not entry.encrypted
