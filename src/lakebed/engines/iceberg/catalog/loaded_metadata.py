"""Metadata that a catalog returned, kept until it is asked for by its location."""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock

from lakebed.engines.iceberg.metadata.parsing import read_metadata
from lakebed.errors import DamagedTable
from lakebed.ports import Pointer, TableMetadata

_AT_LEAST = 256


class LoadedMetadata:
    """A cache by location of the metadata file, which never changes; safe to share between
    threads.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, TableMetadata] = OrderedDict()
        self._lock = Lock()

    def keep(self, found: Mapping[str, TableMetadata]) -> None:
        """Keep everything that one look found, and at least as much of what others found."""
        with self._lock:
            for location, metadata in found.items():
                self._known[location] = metadata
                self._known.move_to_end(location)
            while len(self._known) > max(_AT_LEAST, 2 * len(found)):
                self._known.popitem(last=False)

    def get(self, location: str) -> TableMetadata | None:
        with self._lock:
            return self._known.get(location)


def fetched(pointer: Pointer, properties: Mapping[str, str]) -> TableMetadata:
    """Read the metadata from its file."""
    from pyiceberg.io import load_file_io

    from lakebed.engines.iceberg.metadata.documents import read_document

    try:
        document, _ = read_document(
            load_file_io(dict(properties), pointer.location), pointer.location
        )
        return read_metadata(document)
    except (OSError, ValueError) as error:
        raise DamagedTable(
            str(pointer.table), pointer.location, f"{type(error).__name__}: {error}."
        ) from error
