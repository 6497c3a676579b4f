"""Looking tables over: every file they keep, read with everything it can be checked by."""

from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyiceberg.io import FileIO, load_file_io
from pyiceberg.manifest import DataFileContent, ManifestFile, read_manifest_list

from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.metadata.reading import parse_metadata
from lakebed.engines.iceberg.upkeep.file_contents import content_of
from lakebed.errors import BadName, FileMissing, Unavailable
from lakebed.ports import DamagedFile, FileContent, Files, MetadataFile, Pointer, ReachableFile, ReachableKind, TableMetadata
from lakebed.settings import FilesSettings, Root, normalized_location

_AT_ONCE = 8
T = TypeVar("T")


class IcebergInspection:
    """Reads through PyIceberg and pyarrow; damage is a value here, not an error."""

    def __init__(self, root: Root, files: Files, settings: FilesSettings, *, properties: Mapping[str, str]) -> None:
        self._root, self._files, self._properties = root, files, dict(properties)
        self._places = FilesByUrl(root, files, settings)

    def walk(self, pointer: Pointer) -> Iterator[ReachableFile | DamagedFile]:
        read = self._metadata(pointer.location)
        if isinstance(read, DamagedFile):
            yield read
            return
        metadata, manifest_lists = read
        yield from _own(pointer, metadata)
        yield from self._below(manifest_lists, load_file_io(self._properties, pointer.location))

    def _below(self, lists: Collection[str], io: FileIO) -> Iterator[ReachableFile | DamagedFile]:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            manifests: dict[str, ManifestFile] = {}
            for place, read in zip(lists, pool.map(lambda place: _list(io, place), lists), strict=True):
                yield read if isinstance(read, DamagedFile) else ReachableFile(normalized_location(place), "manifest list")
                manifests |= {} if isinstance(read, DamagedFile) else {manifest.manifest_path: manifest for manifest in read}
            seen: set[str] = set()
            for manifest, entries in zip(
                manifests.values(), pool.map(lambda manifest: _entries(io, manifest), manifests.values()), strict=True
            ):
                if isinstance(entries, DamagedFile):
                    yield entries
                    continue
                yield ReachableFile(normalized_location(manifest.manifest_path), "manifest", manifest.manifest_length)
                fresh = {entry.location: entry for entry in entries if entry.location not in seen}
                seen |= fresh.keys()
                yield from fresh.values()

    def size(self, location: str) -> int | None:
        try:
            return self._places.info(location).size
        except (FileMissing, BadName):
            return None

    def content(self, reached: ReachableFile) -> FileContent:
        return content_of(*self._places.locate(reached.location), rows=reached.rows)

    def metadata_files(self, folder: str) -> Iterator[MetadataFile | DamagedFile]:
        for info in self._files.list(folder):
            if info.path.endswith((".metadata.json", ".metadata.json.gz", ".gz.metadata.json")):
                location = self._root.at(info.path)
                read = self._metadata(location)
                yield read if isinstance(read, DamagedFile) else MetadataFile(location, number_of(location), read[0])

    def _metadata(self, location: str) -> tuple[TableMetadata, tuple[str, ...]] | DamagedFile:
        def read() -> tuple[TableMetadata, tuple[str, ...]]:
            metadata, document = parse_metadata(self._places.read(location))
            lists = (snapshot.get("manifest-list") for snapshot in document.get("snapshots") or ())
            return metadata, tuple(dict.fromkeys(place for place in lists if place))

        return _reading(location, "metadata", read)


def number_of(location: str) -> int:
    """The number at the beginning of a metadata file's name; -1 for one without."""
    digits = location.rsplit("/", 1)[-1].split("-", 1)[0].removeprefix("v").split(".", 1)[0]
    return int(digits) if digits.isdigit() else -1


def _own(pointer: Pointer, metadata: TableMetadata) -> Iterator[ReachableFile]:
    for place in dict.fromkeys((*metadata.metadata_log, pointer.location)):
        yield ReachableFile(normalized_location(place), "metadata")
    for place in metadata.statistics:
        yield ReachableFile(normalized_location(place), "statistics")


def _list(io: FileIO, place: str) -> list[ManifestFile] | DamagedFile:
    return _reading(place, "manifest list", lambda: list(read_manifest_list(io.new_input(place))))


def _entries(io: FileIO, manifest: ManifestFile) -> tuple[ReachableFile, ...] | DamagedFile:
    def read() -> tuple[ReachableFile, ...]:
        return tuple(
            ReachableFile(
                normalized_location(entry.data_file.file_path),
                "data" if entry.data_file.content == DataFileContent.DATA else "deletes",
                entry.data_file.file_size_in_bytes,
                entry.data_file.record_count,
            )
            for entry in manifest.fetch_manifest_entry(io, discard_deleted=True)
        )

    return _reading(manifest.manifest_path, "manifest", read)


def _reading(place: str, kind: ReachableKind, read: Callable[[], T]) -> T | DamagedFile:
    try:
        return read()
    except (FileNotFoundError, FileMissing):
        return DamagedFile(normalized_location(place), kind, "there is no such file")
    except Unavailable:
        raise  # a store that does not answer says nothing of the file
    except Exception as error:  # whatever Avro and JSON readers say of bytes that are none
        return DamagedFile(normalized_location(place), kind, f"{type(error).__name__}: {error}")
