"""Checking tables: every file they keep, read and verified by all that is known about it."""

from collections.abc import Iterable, Iterator, Mapping

from pyiceberg.io import load_file_io

from lakebed.batches.state import sidecar_paths
from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.metadata.reading import parse_metadata
from lakebed.engines.iceberg.upkeep.file_contents import content_of
from lakebed.engines.iceberg.upkeep.manifest_walk import or_damage, walk_manifests
from lakebed.errors import BadName, FileMissing
from lakebed.ports import (
    DamagedFile,
    FileContent,
    Files,
    MetadataFile,
    Pointer,
    ReachableFile,
    TableMetadata,
)
from lakebed.settings import FilesSettings, Root, normalized_location


class IcebergInspection:
    """Reads through PyIceberg and pyarrow; damage is a value here, not an error."""

    def __init__(
        self, root: Root, files: Files, settings: FilesSettings, *, properties: Mapping[str, str]
    ) -> None:
        self._root, self._files, self._properties = root, files, dict(properties)
        self._places = FilesByUrl(root, files, settings)

    def walk(self, pointer: Pointer) -> Iterator[ReachableFile | DamagedFile]:
        read = self._metadata(pointer.location)
        if isinstance(read, DamagedFile):
            yield read
            return
        metadata, manifest_lists = read
        yield from _own_files(pointer, metadata, self._root)
        yield from _once(
            walk_manifests(manifest_lists, load_file_io(self._properties, pointer.location))
        )

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
                yield (
                    read
                    if isinstance(read, DamagedFile)
                    else MetadataFile(location, number_of(location), read[0])
                )

    def _metadata(self, location: str) -> tuple[TableMetadata, tuple[str, ...]] | DamagedFile:
        def read() -> tuple[TableMetadata, tuple[str, ...]]:
            metadata, document = parse_metadata(self._places.read(location))
            lists = (snapshot.get("manifest-list") for snapshot in document.get("snapshots") or ())
            return metadata, tuple(dict.fromkeys(place for place in lists if place))

        return or_damage(location, "metadata", read)


def number_of(location: str) -> int:
    """The number at the beginning of a metadata file's name; -1 if there is none."""
    digits = location.rsplit("/", 1)[-1].split("-", 1)[0].removeprefix("v").split(".", 1)[0]
    return int(digits) if digits.isdigit() else -1


def _once(
    walked: Iterable[ReachableFile | DamagedFile],
) -> Iterator[ReachableFile | DamagedFile]:
    """Several manifests may name a file; damage to it is found once."""
    seen: set[str] = set()
    for found in walked:
        if found.location not in seen:
            seen.add(found.location)
            yield found


def _own_files(pointer: Pointer, metadata: TableMetadata, root: Root) -> Iterator[ReachableFile]:
    for place in dict.fromkeys((*metadata.metadata_log, pointer.location)):
        yield ReachableFile(normalized_location(place), "metadata")
    for place in metadata.statistics:
        yield ReachableFile(normalized_location(place), "statistics")
    for path in sidecar_paths(metadata):
        yield ReachableFile(normalized_location(root.at(path)), "batches")
