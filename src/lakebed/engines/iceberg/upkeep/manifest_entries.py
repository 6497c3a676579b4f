"""The files of a manifest, one at a time: PyIceberg's own method returns all of them at once, with
metrics that make up most of a manifest.
"""

from collections.abc import Callable, Hashable, Iterator
from io import BytesIO
from typing import Any

from pyiceberg.avro.file import AvroFile
from pyiceberg.io import InputFile
from pyiceberg.manifest import (
    DEFAULT_READ_VERSION,
    MANIFEST_ENTRY_SCHEMAS,
    DataFile,
    DataFileContent,
    ManifestEntry,
    ManifestEntryStatus,
)
from pyiceberg.typedef import Record, StructProtocol

from lakebed.ports import Partition, ReachableFile, ReachableKind
from lakebed.settings import normalized_location

_ENTRY = MANIFEST_ENTRY_SCHEMAS[DEFAULT_READ_VERSION]
# by field id of Iceberg's specification
_TYPES: dict[int, Callable[..., StructProtocol]] = {-1: ManifestEntry, 2: DataFile}


def read_entries(data: bytes, *, spec: int) -> Iterator[ReachableFile]:
    """The files of a manifest that are part of the table; `spec` is the manifest's partition
    spec.
    """
    partitions: dict[Partition, Partition] = {}
    with AvroFile[ManifestEntry](_InMemory(data), _ENTRY, _TYPES) as entries:
        for entry in entries:
            if entry.status != ManifestEntryStatus.DELETED:
                found = Partition(spec, _values(entry.data_file.partition))
                yield _reachable(entry.data_file, partitions.setdefault(found, found))


def _reachable(file: DataFile, partition: Partition) -> ReachableFile:
    kind: ReachableKind = "data" if file.content == DataFileContent.DATA else "deletes"
    place = normalized_location(file.file_path)
    return ReachableFile(place, kind, file.file_size_in_bytes, file.record_count, partition)


def _values(record: Record) -> tuple[Hashable, ...]:
    return tuple(_comparable(record[place]) for place in range(len(record)))


def _comparable(value: Any) -> Any:
    """Two NaN are one partition."""
    return "NaN" if isinstance(value, float) and value != value else value


class _InMemory(InputFile):
    """Bytes that were read already."""

    def __init__(self, data: bytes) -> None:
        super().__init__("")
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def exists(self) -> bool:
        return True

    def open(self, seekable: bool = True) -> BytesIO:
        return BytesIO(self._data)
