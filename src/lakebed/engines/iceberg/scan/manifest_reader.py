"""A table's metadata file, manifest lists and manifests, each read once and cached: they never
change.
"""

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache, cachedmethod

from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.metadata.outlines import MetadataOutline, read_outline
from lakebed.engines.iceberg.metadata.parsing import Json, refuse_newer
from lakebed.engines.iceberg.metadata.reading import document_of
from lakebed.engines.iceberg.scan.manifest_cache import ManifestCache
from lakebed.engines.iceberg.scan.manifests import (
    Manifest,
    ManifestEntry,
    as_entries,
    as_manifests,
    read_entries,
    read_list,
)
from lakebed.errors import DamagedTable, FileMissing, LakebedError
from lakebed.ports import Pointer
from lakebed.settings import normalized_location

_AT_ONCE = 8
_OUTLINES = 64  # parsed metadata files in the cache
T = TypeVar("T")
U = TypeVar("U")


class ManifestReader:
    """Reads what a pointer leads to; `DamagedTable` for what cannot be read."""

    def __init__(self, places: FilesByUrl, remembered: ManifestCache) -> None:
        self._places, self._remembered = places, remembered
        self._outlines: LRUCache[str, MetadataOutline] = LRUCache(_OUTLINES)
        self._lock = Lock()

    @cachedmethod(
        lambda self: self._outlines,
        key=lambda _, pointer: pointer.location,
        lock=lambda self: self._lock,
    )
    def outline(self, pointer: Pointer) -> MetadataOutline:
        """The metadata file."""
        place = pointer.location
        return self.read(
            pointer, place, lambda data: read_outline(_known(document_of(data), place))
        )

    def manifests(
        self, pointer: Pointer, outline: MetadataOutline, snapshot: int | None
    ) -> list[Manifest]:
        """The manifests of a snapshot; none without one."""
        if snapshot is None:
            return []
        place = outline.snapshots[snapshot].manifests
        read = lambda: self.read(pointer, place, read_list)  # noqa: E731
        return as_manifests(self.remembered("list", place, read))

    def entries(self, pointer: Pointer, manifest: Manifest) -> list[ManifestEntry]:
        """The files of a manifest."""
        place = manifest.location
        read = lambda: self.read(pointer, place, read_entries)  # noqa: E731
        return as_entries(self.remembered("manifest", f"{place}\n{manifest.length}", read))

    def all_entries(
        self, pointer: Pointer, manifests: Collection[Manifest]
    ) -> Iterable[list[ManifestEntry]]:
        """The files of each manifest."""
        return self.each(pointer, manifests, lambda one: self.entries(pointer, one))

    def each(self, pointer: Pointer, things: Collection[U], look: Callable[[U], T]) -> Iterable[T]:
        """What a look at each thing gives; several at once where each takes a request."""
        if len(things) > 1 and normalized_location(pointer.location).startswith("s3://"):
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                return list(pool.map(look, things))
        return (look(one) for one in things)

    def remembered(self, kind: str, key: str, make: Callable[[], Any]) -> Any:
        """What `make` returns, cached."""
        return self._remembered.get(kind, key, make)

    def read(self, pointer: Pointer, place: str, read: Callable[[bytes], T]) -> T:
        """A file; the cause of the error is a `FileMissing` if there is none."""
        try:
            return read(self._places.read(place))
        except FileMissing as error:
            raise DamagedTable(str(pointer.table), place, "there is no such file.") from error
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
