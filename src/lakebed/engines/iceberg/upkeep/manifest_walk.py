"""From manifest lists to manifests to data files: every file of a table, read through PyIceberg.

A table may have millions of files, and a manifest any number of them: files are yielded while a
manifest is read, and only a few manifests are fetched ahead.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestFile, read_manifest_list

from lakebed.engines.iceberg.upkeep.manifest_entries import read_entries
from lakebed.errors import FileMissing, Unavailable
from lakebed.ports import ReachableFile, ReachableKind
from lakebed.ports.upkeep.inspection import DamagedFile
from lakebed.settings import normalized_location

_AT_ONCE = 8
S = TypeVar("S")
T = TypeVar("T")
# the files of a manifest if they are known, and what to do with them once they were read
Known = Callable[[str], tuple[ReachableFile, ...] | None]
Keep = Callable[[str, Iterable[ReachableFile]], Iterator[ReachableFile]]


def walk_manifests(
    lists: Collection[str],
    io: FileIO,
    *,
    known: Known = lambda _: None,
    keep: Keep = lambda _, files: iter(files),
) -> Iterator[ReachableFile | DamagedFile]:
    """The manifest lists and everything below them; a file that cannot be read as damage.

    Each manifest is read once. A file comes as often as manifests name it: remembering all of them
    would take too much memory.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        manifests: dict[str, ManifestFile] = {}
        for place, listed in _ahead(pool, lambda place: _read_list(place, io), lists):
            if isinstance(listed, DamagedFile):
                yield listed
                continue
            yield ReachableFile(normalized_location(place), "manifest list")
            manifests |= {manifest.manifest_path: manifest for manifest in listed}

        def fetch(manifest: ManifestFile) -> tuple[ReachableFile, ...] | bytes | DamagedFile:
            there = known(manifest.manifest_path)
            return _fetch(manifest, io) if there is None else there

        for manifest, found in _ahead(pool, fetch, manifests.values()):
            if isinstance(found, bytes):
                yield from _of_manifest(manifest, found, keep)
                continue
            if isinstance(found, DamagedFile):
                yield found
                continue
            yield from (*found, _itself(manifest))


def _of_manifest(
    manifest: ManifestFile, data: bytes, keep: Keep
) -> Iterator[ReachableFile | DamagedFile]:
    """The files of a manifest, then the manifest itself, or the damage that was met among them."""
    place = manifest.manifest_path
    files = keep(place, read_entries(data, spec=manifest.partition_spec_id))
    while True:
        file = or_damage(place, "manifest", lambda: next(files, None))
        if file is None:
            break
        yield file
        if isinstance(file, DamagedFile):
            return
    yield _itself(manifest)


def _itself(manifest: ManifestFile) -> ReachableFile:
    place = normalized_location(manifest.manifest_path)
    return ReachableFile(place, "manifest", manifest.manifest_length)


def _ahead(
    pool: ThreadPoolExecutor, work: Callable[[S], T], items: Iterable[S]
) -> Iterator[tuple[S, T]]:
    """Each item and what became of it, in order; only a few more are worked on than were taken."""
    begun: deque[tuple[S, Future[T]]] = deque()
    for item in items:
        begun.append((item, pool.submit(work, item)))
        if len(begun) >= _AT_ONCE:
            first, future = begun.popleft()
            yield first, future.result()
    while begun:
        first, future = begun.popleft()
        yield first, future.result()


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


def _fetch(manifest: ManifestFile, io: FileIO) -> bytes | DamagedFile:
    def read() -> bytes:
        with io.new_input(manifest.manifest_path).open() as file:
            data = file.read()
        if len(data) < manifest.manifest_length:  # PyIceberg takes the end of the file for its own
            raise ValueError(f"it has {len(data)} bytes of {manifest.manifest_length}")
        return data

    return or_damage(manifest.manifest_path, "manifest", read)
