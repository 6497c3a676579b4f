"""Reading landing files: their columns, their faults and their rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lakebed.ports.rows.frames import Field, Frame

# of a record that does not fit, so many characters are looked at
LONGEST_RECORD = 16 * 1024


@dataclass(frozen=True)
class FileGroup:
    """Landing files that are read with the same format, options and columns."""

    format: str  # csv, json or parquet
    paths: tuple[str, ...]  # as the engine addresses them
    options: Mapping[str, str]
    columns: tuple[Field, ...] = ()  # in the order of the files; empty: as the files say
    nulls: tuple[str, ...] = ()  # texts of CSV fields that mean NULL, besides the one in `options`
    bytes: int = 0  # of all files


@dataclass(frozen=True)
class FileRows:
    """What the engine found in one file. Paths are those the engine was given."""

    path: str
    rows: int  # records, broken ones included
    corrupt: int = 0  # records that do not fit the columns
    # lines of JSON without a value, or with several, of which readers would drop all but the first
    stray: int = 0
    rounded: int = 0  # rows with a number or time that has more digits than its column keeps
    suspect: int = 0  # rows that may result from wrong bytes or unclosed quotes
    filled: tuple[int, ...] = ()  # the number of values in each column that are not NULL
    # of CSV files, texts in each column from which its type would not be inferred, such as 007
    odd: tuple[int, ...] = ()


@dataclass(frozen=True)
class UnreadableFiles:
    """Reading failed because of a file: `path`, if the engine named it."""

    reason: str
    path: str | None = None


@dataclass(frozen=True)
class SeenRows:
    """What a job saw of a group's rows while it read them.

    A job that reads them twice counts them twice: only whether a number is 0 is certain.
    """

    rows: int
    # rows that need a closer look: a number may lose digits or be spelt oddly, or a text results
    # from wrong bytes
    doubtful: int = 0
    filled: tuple[int, ...] = ()  # the number of values in each column that are not NULL


@dataclass(frozen=True)
class ObservedRows:
    """Rows that are checked by the job that reads them."""

    frame: Frame
    # What the first job saw in each group, once it has ended; None if the engine cannot tell.
    seen: Callable[[], tuple[SeenRows, ...] | None]


class LandingReader(Protocol):
    """Reads groups of landing files."""

    @property
    def observes(self) -> bool:
        """Whether jobs tell what they saw in the rows of `read_observed`."""
        ...

    def infer(self, group: FileGroup) -> tuple[Field, ...] | UnreadableFiles:
        """The columns that fit the values of the files, named as they are there."""
        ...

    def check(self, groups: Sequence[FileGroup]) -> tuple[FileRows, ...] | UnreadableFiles:
        """Read all files once, in one job, and count what is in each; a file without records may be
        left out.
        """
        ...

    def corrupt_records(self, groups: Sequence[FileGroup]) -> Mapping[str, str]:
        """One record that does not fit, for each file that has any; cut to a length for
        messages.
        """
        ...

    def two_spellings(self, groups: Sequence[FileGroup], column: str) -> tuple[str, str] | None:
        """Two texts in a column of CSV files that spell the same value; None if there are none."""
        ...

    def read(
        self, groups: Sequence[FileGroup], fields: Sequence[Field], *, path_column: str = ""
    ) -> Frame:
        """The rows of all groups with exactly these columns; without groups, no row. If a name is
        given, one more column says in which file each row is, as the engine spells it.

        A record that does not fit fails the job that reads it.
        """
        ...

    def read_observed(
        self, groups: Sequence[FileGroup], fields: Sequence[Field], *, path_column: str = ""
    ) -> ObservedRows:
        """The same rows; the job that reads them parses and counts every value, whichever of them
        it needs. JSON files have one record on each line, and no record in a record.
        """
        ...
