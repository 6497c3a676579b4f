"""From a metadata file to every file it reaches: manifest lists, manifests, data."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from pyiceberg.io import FileIO, load_file_io
from pyiceberg.manifest import DataFileContent, ManifestFile, read_manifest_list
from pyiceberg.table.metadata import TableMetadata as IcebergMetadata

from lakebed.engines.iceberg.metadata.documents import read_document
from lakebed.errors import DamagedTable
from lakebed.ports import ForeignTable, Pointer, ReachableFile
from lakebed.settings import normalized_location

_AT_ONCE = 8
_KEPT = 2_000  # manifests whose files are remembered: they never change
T = TypeVar("T")


class IcebergReach:
    """Reads Avro through PyIceberg; remembers manifests, for most are asked about again and again."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = dict(properties)
        self._known: OrderedDict[str, tuple[ReachableFile, ...]] = OrderedDict()
        self._lock = Lock()

    def files(self, pointer: Pointer | ForeignTable, *, snapshots: Collection[int] | None = None) -> Iterator[ReachableFile]:
        io = load_file_io(self._properties, pointer.location)
        _, present = self._reading(pointer, pointer.location, lambda: read_document(io, pointer.location))
        if snapshots is None:
            yield from _own(pointer, present)
        lists = [
            snapshot.manifest_list
            for snapshot in present.snapshots
            if snapshot.manifest_list and (snapshots is None or snapshot.snapshot_id in snapshots)
        ]
        yield from (ReachableFile(normalized_location(place), "manifest list") for place in dict.fromkeys(lists))
        yield from self._below(pointer, lists, io)

    def _below(self, pointer: Pointer | ForeignTable, lists: Collection[str], io: FileIO) -> Iterator[ReachableFile]:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            listed = pool.map(lambda place: self._reading(pointer, place, lambda: _manifests(io, place)), dict.fromkeys(lists))
            manifests = {manifest.manifest_path: manifest for manifests in listed for manifest in manifests}
            for manifest in manifests.values():
                yield ReachableFile(normalized_location(manifest.manifest_path), "manifest", manifest.manifest_length)
            seen: set[str] = set()
            for entries in pool.map(lambda manifest: self._entries(pointer, manifest, io), manifests.values()):
                for entry in entries:
                    if entry.location not in seen:
                        seen.add(entry.location)
                        yield entry

    def _entries(self, pointer: Pointer | ForeignTable, manifest: ManifestFile, io: FileIO) -> tuple[ReachableFile, ...]:
        place = manifest.manifest_path
        with self._lock:
            if place in self._known:
                self._known.move_to_end(place)
                return self._known[place]
        entries = self._reading(pointer, place, lambda: _entries(manifest, io))
        with self._lock:
            self._known[place] = entries
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return entries

    def _reading(self, pointer: Pointer | ForeignTable, place: str, read: Callable[[], T]) -> T:
        try:
            return read()
        except FileNotFoundError:
            raise DamagedTable(str(pointer.table), place, "there is no such file.") from None
        except Exception as error:  # whatever Avro and JSON readers say of bytes that are none
            raise DamagedTable(str(pointer.table), place, f"{type(error).__name__}: {error}.") from error


def _own(pointer: Pointer | ForeignTable, present: IcebergMetadata) -> Iterator[ReachableFile]:
    earlier = (entry.metadata_file for entry in present.metadata_log)
    for place in dict.fromkeys((*earlier, pointer.location)):
        yield ReachableFile(normalized_location(place), "metadata")
    for statistics in (*present.statistics, *present.partition_statistics):
        yield ReachableFile(normalized_location(statistics.statistics_path), "statistics", statistics.file_size_in_bytes)


def _manifests(io: FileIO, place: str) -> list[ManifestFile]:
    return list(read_manifest_list(io.new_input(place)))


def _entries(manifest: ManifestFile, io: FileIO) -> tuple[ReachableFile, ...]:
    return tuple(
        ReachableFile(
            normalized_location(entry.data_file.file_path),
            "data" if entry.data_file.content == DataFileContent.DATA else "deletes",
            entry.data_file.file_size_in_bytes,
            entry.data_file.record_count,
        )
        for entry in manifest.fetch_manifest_entry(io, discard_deleted=True)
    )
