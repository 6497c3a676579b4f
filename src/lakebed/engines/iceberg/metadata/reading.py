"""Reading the metadata files that the catalog points at."""

import gzip
import json
import zlib
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from lakebed.engines.files import open_files
from lakebed.engines.iceberg.metadata.parsing import Json, read_metadata, read_view
from lakebed.errors import DamagedTable, FileMissing
from lakebed.names import TableName
from lakebed.ports import Files, Pointer, TableMetadata, ViewMetadata
from lakebed.settings import FilesSettings, Root, normalized_location

_AT_ONCE = 16
_GZIP = b"\x1f\x8b"


def parse_metadata(data: bytes) -> tuple[TableMetadata, Json]:
    """A metadata file, compressed or not, parsed and as JSON; `ValueError` or `KeyError` if it is
    not one.
    """
    document = document_of(data)
    return read_metadata(document), document


def document_of(data: bytes) -> Json:
    """A metadata file as JSON; `ValueError` if it is not one."""
    document: Json = json.loads(gzip.decompress(data) if data.startswith(_GZIP) else data)
    return document


class MetadataReader:
    """Reads metadata files by location: below the root through the lake's store, elsewhere
    by URL.
    """

    def __init__(self, root: Root, files: Files, settings: FilesSettings) -> None:
        self._root, self._files, self._settings = root, files, settings

    def read(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        """The metadata of tables, several at once where each takes a request."""
        if not self._root.is_bucket:
            return {pointer.table: self._one(pointer) for pointer in pointers}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return dict(
                zip(
                    (pointer.table for pointer in pointers),
                    pool.map(self._one, pointers),
                    strict=True,
                )
            )

    def view(self, view: TableName, location: str) -> ViewMetadata:
        """The metadata of a view."""
        with _damage(view, location):
            return read_view(document_of(self._bytes(location)))

    def folder_of(self, pointer: Pointer) -> str | None:
        """A table's folder below the root; None if it is elsewhere or cannot be read."""
        try:
            return self._files.path_of(self._one(pointer).location)
        except DamagedTable:
            return None

    def in_lake(self, location: str) -> bool:
        """Whether a location is below the root."""
        return self._files.path_of(location) is not None

    def clear(self, folder: str) -> None:
        """Remove a table's folder."""
        self._files.clear(folder)

    def _one(self, pointer: Pointer) -> TableMetadata:
        with _damage(pointer.table, pointer.location):
            return parse_metadata(self._bytes(pointer.location))[0]

    def _bytes(self, location: str) -> bytes:
        if path := self._root.relative(location):
            return self._files.read(path)
        place = normalized_location(location)
        if place.startswith("s3://"):
            parts = urlsplit(place)
            return open_files(Root.parse(f"s3://{parts.netloc}"), self._settings).read(
                parts.path.lstrip("/")
            )
        return Path(place).read_bytes()


@contextmanager
def _damage(table: TableName, location: str) -> Iterator[None]:
    try:
        yield
    except (FileMissing, FileNotFoundError):
        raise DamagedTable(str(table), location, "there is no such file.") from None
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, StopIteration) as error:
        raise DamagedTable(str(table), location, f"{type(error).__name__}: {error}.") from error
