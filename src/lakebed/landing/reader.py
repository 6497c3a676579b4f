"""What a zone asks of the engine that reads its files: a part of `Compute`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lakebed.ports import Field, FileGroup, Frame


@dataclass(frozen=True)
class FileRows:
    """What the engine found in one file. Paths are as the engine was given them."""

    path: str
    rows: int  # records, broken ones included
    corrupt: int = 0  # records that do not fit the columns
    stray: int = 0  # lines of JSON that hold no value, or more than one: the reader would take the first and drop the rest
    rounded: int = 0  # rows with a number that has more digits than its decimal column keeps
    suspect: int = 0  # rows that wrong bytes or open quotes may have led to
    filled: tuple[int, ...] = ()  # how many values each column has that are not NULL


@dataclass(frozen=True)
class Unreadable:
    """Reading failed through the fault of a file, by `path` if the engine named it."""

    reason: str
    path: str | None = None


class Reader(Protocol):
    """Reads groups of files."""

    def infer_files(self, group: FileGroup) -> tuple[Field, ...] | Unreadable:
        """The columns that the values of the files show, names spelt as they are there."""
        ...

    def check_files(self, groups: Sequence[FileGroup]) -> tuple[FileRows, ...] | Unreadable:
        """All files read once, in one job, and what was found in each; a file without a record may be left out."""
        ...

    def corrupt_records(self, groups: Sequence[FileGroup]) -> Mapping[str, str]:
        """One record that does not fit, for each file that has some; cut to a length for messages."""
        ...

    def read_files(self, group: FileGroup) -> Frame:
        """The rows of the files; a record that does not fit fails the job that meets it."""
        ...

    def shape(self, frame: Frame, fields: Sequence[Field]) -> Frame:
        """The frame with exactly these columns: cast where types differ, NULL where it has none."""
        ...

    def union(self, frames: Sequence[Frame]) -> Frame:
        """Rows of all frames, columns matched by name."""
        ...

    def query(self, text: str) -> Frame:
        """The rows of a query."""
        ...
