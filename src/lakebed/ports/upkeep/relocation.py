"""Rewriting the metadata of tables after their lake was moved."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class RelocatedTable:
    """What was written for one table: its new metadata file, and how many files there were to
    write.
    """

    location: str
    files: int


class TableRelocator(Protocol):
    """Rewrites metadata from one root to another, beside the files that are there."""

    def moved(self, location: str) -> str:
        """The address of a file after the move; the same if it was never below the old root."""
        ...

    def table(self, name: str, location: str) -> RelocatedTable:
        """Write all metadata of a table, or the one file of a view, whose metadata file was at
        `location`.
        """
        ...
