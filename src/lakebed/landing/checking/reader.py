"""What a zone asks of the engine that reads its files: a part of `Compute`."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from lakebed.ports import Field, FileGroup, FileRows, Frame, UnreadableFiles


class Reader(Protocol):
    """Reads groups of files."""

    def infer_files(self, group: FileGroup) -> tuple[Field, ...] | UnreadableFiles:
        """The columns that the values of the files show, names spelt as they are there."""
        ...

    def check_files(self, groups: Sequence[FileGroup]) -> tuple[FileRows, ...] | UnreadableFiles:
        """All files read once, in one job, and what was found in each; a file without a record may be left out."""
        ...

    def corrupt_records(self, groups: Sequence[FileGroup]) -> Mapping[str, str]:
        """One record that does not fit, for each file that has some; cut to a length for messages."""
        ...

    def read_files(self, group: FileGroup) -> Frame:
        """The rows of the files; a record that does not fit fails the job that meets it."""
        ...

    def conform(self, frame: Frame, fields: Sequence[Field]) -> Frame:
        """The frame with exactly these columns: cast where types differ, NULL where it has none."""
        ...

    def union(self, frames: Sequence[Frame]) -> Frame:
        """Rows of all frames, columns matched by name."""
        ...

    def query(self, text: str) -> Frame:
        """The rows of a query."""
        ...


__all__ = ["FileRows", "Reader", "UnreadableFiles"]
