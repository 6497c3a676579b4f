"""What we ask of whoever looks a lake's files over: all damage, where reach stops at the first."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from lakebed.names import TableName
from lakebed.ports.catalog import RefMove
from lakebed.ports.leases import Lease
from lakebed.ports.reach import ReachableFile, ReachableKind
from lakebed.ports.records import Along
from lakebed.ports.tables import Pointer, TableMetadata

LISTED_NOTHING = Along()


@dataclass(frozen=True)
class DamagedFile:
    """A file that a table needs and that cannot be read, or is not there."""

    location: str
    kind: ReachableKind
    reason: str


@dataclass(frozen=True)
class FileContent:
    """A file as it was read from its first byte to its last; `fault` says what of it is no such file."""

    sha256: str
    size: int
    fault: str = ""


@dataclass(frozen=True)
class MetadataFile:
    """A metadata file that lies in the lake, whether or not the catalog points at it. `number` is that of its name."""

    location: str
    number: int
    metadata: TableMetadata


class FileInspector(Protocol):
    """Looks at files; changes none."""

    def walk(self, pointer: Pointer) -> Iterator[ReachableFile | DamagedFile]:
        """Every file that a table keeps, each once; what cannot be read is told, and the walk goes on."""
        ...

    def size(self, location: str) -> int | None:
        """How large the file is now; None if there is none."""
        ...

    def content(self, reached: ReachableFile) -> FileContent:
        """The whole file, read and decoded; `FileMissing` if there is none."""
        ...

    def metadata_files(self, folder: str) -> Iterator[MetadataFile | DamagedFile]:
        """Every metadata file below a folder of the lake."""
        ...


@dataclass(frozen=True)
class Checksum:
    """What a file below the root held when it was last read whole: files of tables never change."""

    path: str
    sha256: str
    size: int
    at: datetime


@dataclass(frozen=True)
class PinRow:
    """A pin, and whether the run that made it is still running by its record."""

    run_id: str
    table: TableName
    snapshot: int
    running: bool


class Audit(Protocol):
    """Rows of the lake's state that only a check asks for."""

    def database_fault(self) -> str:
        """What the database says is wrong with itself; nothing if nothing is."""
        ...

    def pins(self) -> tuple[PinRow, ...]:
        """Every pin."""
        ...

    def consumed_counts(self) -> dict[TableName, int]:
        """How many landing files each table is said to have taken."""
        ...

    def checksums(self) -> dict[str, Checksum]:
        """What is known of files, by path."""
        ...

    def save_checksums(self, checksums: Sequence[Checksum]) -> None:
        """These were read now."""
        ...

    def delete_checksums(self, paths: Collection[str]) -> None:
        """No table reaches these any more."""
        ...


@dataclass(frozen=True)
class PointerRow:
    """A row of the catalog or of the dropped tables, and the metadata file it points at. `key` names it among its kind."""

    kind: Literal["table", "view", "dropped"]
    name: str
    table: TableName | None  # None for what somebody made outside our three parts
    location: str
    key: str
    previous: str | None = None  # the metadata file it pointed at before


@dataclass(frozen=True)
class PointerChange:
    """A row that is to point at another metadata file of the same table."""

    row: PointerRow
    to: str


class PointerRows(Protocol):
    """All rows that hold a metadata file's address, moved together."""

    def rows(self) -> tuple[PointerRow, ...]:
        """Tables, views and dropped tables."""
        ...

    def stage(self, location: str, move: RefMove) -> str:
        """Write the metadata at `location` as it is after a move of refs, as a file of its own; returns where it lies."""
        ...

    def change(self, moves: Sequence[PointerChange], *, leases: Sequence[Lease] = (), records: Along = LISTED_NOTHING) -> None:
        """All of them in one transaction; `PointerMoved` if one is not where it was: then nothing is changed."""
        ...
