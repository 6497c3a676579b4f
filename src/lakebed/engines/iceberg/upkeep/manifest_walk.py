"""From manifest lists to manifests to data files: every file of a table, read through PyIceberg."""

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFileContent, ManifestEntry, ManifestFile, read_manifest_list

from lakebed.errors import FileMissing, Unavailable
from lakebed.ports import ReachableFile, ReachableKind
from lakebed.ports.upkeep.inspection import DamagedFile
from lakebed.settings import normalized_location

_AT_ONCE = 8
T = TypeVar("T")
Files = tuple[ReachableFile, ...]
ReadManifest = Callable[[ManifestFile], Files]


def walk_manifests(
    lists: Collection[str], io: FileIO, *, read_manifest: ReadManifest | None = None
) -> Iterator[ReachableFile | DamagedFile]:
    """The manifest lists and everything below them, each file once; one that cannot be read as
    damage.
    """
    read_entries = read_manifest or (lambda manifest: read_files(manifest, io))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        manifests: dict[str, ManifestFile] = {}
        for place, listed in zip(
            lists, pool.map(lambda place: _read_list(place, io), lists), strict=True
        ):
            if isinstance(listed, DamagedFile):
                yield listed
                continue
            yield ReachableFile(normalized_location(place), "manifest list")
            manifests |= {manifest.manifest_path: manifest for manifest in listed}
        seen: set[str] = set()
        read = pool.map(lambda manifest: _read_manifest(manifest, read_entries), manifests.values())
        for manifest, files in zip(manifests.values(), read, strict=True):
            if isinstance(files, DamagedFile):
                yield files
                continue
            yield ReachableFile(
                normalized_location(manifest.manifest_path), "manifest", manifest.manifest_length
            )
            fresh = {file.location: file for file in files if file.location not in seen}
            seen |= fresh.keys()
            yield from fresh.values()


def read_files(manifest: ManifestFile, io: FileIO) -> Files:
    """The files of a manifest that are part of the table."""
    return tuple(
        _reachable(entry) for entry in manifest.fetch_manifest_entry(io, discard_deleted=True)
    )


def or_damage(place: str, kind: ReachableKind, read: Callable[[], T]) -> T | DamagedFile:
    """What was read, or the damage that kept it from being read."""
    try:
        return read()
    except (FileNotFoundError, FileMissing):
        return DamagedFile(normalized_location(place), kind, "there is no such file")
    except Unavailable:
        raise  # a store that does not answer says nothing about the file
    except Exception as error:  # whatever Avro and JSON readers raise on bytes of another kind
        return DamagedFile(normalized_location(place), kind, f"{type(error).__name__}: {error}")


def _read_list(place: str, io: FileIO) -> list[ManifestFile] | DamagedFile:
    return or_damage(place, "manifest list", lambda: list(read_manifest_list(io.new_input(place))))


def _read_manifest(manifest: ManifestFile, read: ReadManifest) -> Files | DamagedFile:
    return or_damage(manifest.manifest_path, "manifest", lambda: read(manifest))


def _reachable(entry: ManifestEntry) -> ReachableFile:
    file = entry.data_file
    kind: ReachableKind = "data" if file.content == DataFileContent.DATA else "deletes"
    return ReachableFile(
        normalized_location(file.file_path), kind, file.file_size_in_bytes, file.record_count
    )
