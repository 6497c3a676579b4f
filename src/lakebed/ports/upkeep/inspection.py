"""Reading all files of a table to report damage, where `ReachableFiles` stops at the first damaged
file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from lakebed.ports.catalog.tables import Pointer, TableMetadata
from lakebed.ports.upkeep.reach import ReachableFile, ReachableKind


@dataclass(frozen=True)
class DamagedFile:
    """A file that a table needs and that is missing or cannot be read."""

    location: str
    kind: ReachableKind
    reason: str


@dataclass(frozen=True)
class FileContent:
    """The digest and size of a file that was read in full; `fault` says what is wrong with its
    format.
    """

    sha256: str
    size: int
    fault: str = ""


@dataclass(frozen=True)
class MetadataFile:
    """A metadata file in the lake, whether or not the catalog points at it.

    `number` is the one in its name.
    """

    location: str
    number: int
    metadata: TableMetadata


class FileInspector(Protocol):
    """Reads files; changes none."""

    def walk(self, pointer: Pointer) -> Iterator[ReachableFile | DamagedFile]:
        """Every file that a table needs, each once; continues after a damaged one."""
        ...

    def size(self, location: str) -> int | None:
        """The size of a file; None if it is missing."""
        ...

    def content(self, reached: ReachableFile) -> FileContent:
        """Read and decode a file in full; `FileMissing` if it is missing."""
        ...

    def metadata_files(self, folder: str) -> Iterator[MetadataFile | DamagedFile]:
        """Every metadata file below a folder of the lake."""
        ...
