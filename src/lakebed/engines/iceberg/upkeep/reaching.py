"""From a metadata file to every file it reaches.

PyIceberg is loaded on first use: most commands never ask.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING

from cachetools import LRUCache

from lakebed.batches.state import BATCH, CHECKPOINT, sidecars
from lakebed.errors import DamagedTable
from lakebed.ports import ForeignTable, Pointer, ReachableFile
from lakebed.ports.upkeep.inspection import DamagedFile
from lakebed.settings import Root, normalized_location

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.table.metadata import TableMetadata as IcebergMetadata

_KEPT = 50_000  # files of manifests that are remembered: manifests never change
_LARGEST = 10_000  # files of a manifest that is remembered


class IcebergReach:
    """Remembers manifests: most are asked for again and again."""

    def __init__(self, properties: Mapping[str, str], root: Root) -> None:
        self._properties, self._root = dict(properties), root
        self._known: LRUCache[str, tuple[ReachableFile, ...]] = LRUCache(
            _KEPT, getsizeof=lambda files: len(files) + 1
        )
        self._lock = Lock()

    def files(
        self, pointer: Pointer | ForeignTable, *, snapshots: Collection[int] | None = None
    ) -> Iterator[ReachableFile]:
        from pyiceberg.io import load_file_io

        from lakebed.engines.iceberg.upkeep.manifest_walk import walk_manifests

        io = load_file_io(self._properties, pointer.location)
        present = _read_metadata(pointer, io)
        if snapshots is None:
            yield from _own_files(pointer, present)
        for path in _sidecars(present, snapshots):
            yield ReachableFile(normalized_location(self._root.at(path)), "batches")
        lists = dict.fromkeys(
            snapshot.manifest_list
            for snapshot in present.snapshots
            if snapshot.manifest_list and (snapshots is None or snapshot.snapshot_id in snapshots)
        )
        for found in walk_manifests(lists, io, known=self._recall, keep=self._remember):
            yield _require_undamaged(pointer, found)

    def _recall(self, manifest: str) -> tuple[ReachableFile, ...] | None:
        with self._lock:
            return self._known.get(manifest)

    def _remember(self, manifest: str, files: Iterable[ReachableFile]) -> Iterator[ReachableFile]:
        """The files, remembered once all of them were read, unless they are too many."""
        seen: list[ReachableFile] = []
        for file in files:
            if len(seen) <= _LARGEST:
                seen.append(file)
            yield file
        if len(seen) <= _LARGEST:
            with self._lock:
                self._known[manifest] = tuple(seen)


def _read_metadata(pointer: Pointer | ForeignTable, io: "FileIO") -> "IcebergMetadata":
    from lakebed.engines.iceberg.metadata.documents import read_document
    from lakebed.engines.iceberg.upkeep.manifest_walk import or_damage

    found = or_damage(pointer.location, "metadata", lambda: read_document(io, pointer.location)[1])
    if isinstance(found, DamagedFile):
        raise _damage_error(pointer, found)
    return found


def _require_undamaged(
    pointer: Pointer | ForeignTable, found: ReachableFile | DamagedFile
) -> ReachableFile:
    if isinstance(found, DamagedFile):
        raise _damage_error(pointer, found)
    return found


def _damage_error(pointer: Pointer | ForeignTable, found: DamagedFile) -> DamagedTable:
    return DamagedTable(str(pointer.table), found.location, f"{found.reason}.")


def _sidecars(present: "IcebergMetadata", snapshots: Collection[int] | None) -> tuple[str, ...]:
    told = (
        snapshot.summary.get(BATCH)
        for snapshot in present.snapshots
        if snapshot.summary and (snapshots is None or snapshot.snapshot_id in snapshots)
    )
    return sidecars(told, present.properties.get(CHECKPOINT) if snapshots is None else None)


def _own_files(
    pointer: Pointer | ForeignTable, present: "IcebergMetadata"
) -> Iterator[ReachableFile]:
    earlier = (entry.metadata_file for entry in present.metadata_log)
    for place in dict.fromkeys((*earlier, pointer.location)):
        yield ReachableFile(normalized_location(place), "metadata")
    for statistics in (*present.statistics, *present.partition_statistics):
        yield ReachableFile(
            normalized_location(statistics.statistics_path),
            "statistics",
            statistics.file_size_in_bytes,
        )
