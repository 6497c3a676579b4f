"""Parts of the lake's state that only `fsck` reads."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lakebed.names import TableName


@dataclass(frozen=True)
class Checksum:
    """The digest of a file below the root when it was last read in full; files of tables never
    change.
    """

    path: str
    sha256: str
    size: int
    at: datetime


@dataclass(frozen=True)
class PinRow:
    """A pin, and whether the record of its run says that it is still running."""

    run_id: str
    table: TableName
    snapshot: int
    running: bool


class Audit(Protocol):
    """The lake's state as a check needs it."""

    def database_fault(self) -> str:
        """What the database reports as wrong with itself; empty if it is sound."""
        ...

    def pins(self) -> tuple[PinRow, ...]:
        """Every pin, of running and ended runs."""
        ...

    def consumed_counts(self) -> dict[TableName, int]:
        """How many landing files each table has consumed according to the ledger."""
        ...

    def checksums(self) -> dict[str, Checksum]:
        """Every known checksum, by path."""
        ...

    def save_checksums(self, checksums: Sequence[Checksum]) -> None:
        """Store checksums, replacing those of the same paths."""
        ...

    def delete_checksums(self, paths: Collection[str]) -> None:
        """Delete the checksums of files that no table reaches any more."""
        ...
