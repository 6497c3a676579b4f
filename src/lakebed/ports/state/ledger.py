"""The ledger: which landing files runs have consumed, and the column types they learned
from them.
"""

from dataclasses import dataclass, field
from typing import Literal

from lakebed.names import TableName, ZoneName

FileState = Literal["taken", "held", "waiting"]


@dataclass(frozen=True)
class ConsumedFile:
    """A landing file whose rows a run added to its table. `path` is below the lake's root.

    `held`: the run was undone and the file is excluded from later runs; `waiting`: the run was
    undone and the file is to be read again. Copies of the ledger are JSON: the field names are part
    of it (see `tables.ledger.copies`).
    """

    table: TableName
    zone: ZoneName
    path: str  # where it landed
    etag: str  # of the file at that path
    size: int
    run_id: str
    state: FileState = "taken"
    digest: str = ""  # SHA-256 of the content; empty if the etag identifies it, and in older rows
    archived: str = ""  # its path below `_processed/` once it was moved there; empty in older rows
    archived_etag: str = ""
    taken_at: float = field(default=0.0, compare=False)  # when its run was published (Unix time)
    # of the table, when its run was published: it and its descendants have the file's rows. None:
    # the run is in the summary of its snapshot. A run that changes no row writes none.
    snapshot: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class MovedFile:
    """A file of the ledger, identified by its path and etag there, and where it is now."""

    path: str
    etag: str
    new_path: str
    new_etag: str


@dataclass(frozen=True)
class FileStateChange:
    """The new state of files of a table, each identified by its path and the run that
    consumed it.
    """

    table: TableName
    files: tuple[tuple[str, str], ...]
    state: FileState


@dataclass(frozen=True)
class Descent:
    """What a snapshot of a table was made from, and by which run, if by one.

    Recorded when expiry removes the snapshot or its parent, if runs of the table took landing
    files: which of them a later rollback undoes can still be told.
    """

    uuid: str  # the table's
    snapshot: int
    parent: int | None
    run_id: str = ""


@dataclass(frozen=True)
class ColumnTypeChange:
    """A column's new type, and the type that was on record when the run began; empty: none."""

    column: str
    before: str
    type: str


@dataclass(frozen=True)
class ZoneTypes:
    """The column types that a run learned from a zone's files; an empty `pattern` means
    all files.
    """

    zone: ZoneName
    pattern: str
    columns: tuple[ColumnTypeChange, ...]
