"""What we ask of the engine that computes and writes: one run's session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Frame = Any  # the engine's own handle of rows not yet computed


@dataclass(frozen=True)
class Field:
    """One column of a frame, its type in the engine's own words (`decimal(12,2)`)."""

    name: str
    type: str


@dataclass(frozen=True)
class FileGroup:
    """Landing files that are read alike."""

    format: str  # csv, json or parquet
    paths: tuple[str, ...]  # as the engine addresses them
    options: Mapping[str, str]
    columns: tuple[Field, ...] = ()  # in the order in which they stand in the files; empty: as the files say
    nulls: tuple[str, ...] = ()  # texts of CSV fields that mean NULL, beside the one that `options` name


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
class UnreadableFiles:
    """Reading failed through the fault of a file, by `path` if the engine named it."""

    reason: str
    path: str | None = None


class Compute(Protocol):
    """A session of its own for one run; every snapshot it commits carries the run's id."""

    @property
    def session(self) -> Any:
        """What a Python pipeline is given as `spark`."""
        ...

    def set_snapshot_property(self, key: str, value: str) -> None:
        """Write this into the summary of every snapshot that the session commits from now on."""
        ...

    def query(self, text: str) -> Frame:
        """The rows of a query."""
        ...

    def frame(self, result: Any, *, known: Callable[[], Sequence[Field]] = tuple) -> Frame:
        """What a pipeline returned or a hand brought (Spark, Arrow, pandas, Polars, DuckDB, a lake's own) as a frame.

        Values and types are kept or refused by name. `known` tells the table's columns, for those without any value.
        """
        ...

    def fields(self, frame: Frame) -> tuple[Field, ...]:
        """The columns of a frame; computes no row."""
        ...

    def create_view(self, frame: Frame, view: str) -> None:
        """Make a frame readable under a name, in this session only."""
        ...

    def execute(self, statement: str) -> None:
        """Run a statement for its effect."""
        ...

    def rows(self, query: str | Frame, *, limit: int) -> list[dict[str, Any]]:
        """The first rows of a query, at most so many."""
        ...

    def create_table(self, frame: Frame, table: str, *, location: str | None, properties: Mapping[str, str]) -> None:
        """Compute a frame once, into a new table."""
        ...

    def conform(self, frame: Frame, fields: Sequence[Field]) -> Frame:
        """The frame with exactly these columns: cast where types differ, NULL where it has none."""
        ...

    def select(self, frame: Frame, expressions: Sequence[str]) -> Frame:
        """A frame of these expressions, in the engine's SQL, over the columns of another."""
        ...

    def materialize(self, frame: Frame) -> tuple[str, ...]:
        """Compute a frame once, into Parquet files of the lake that stay until the session is given back."""
        ...

    def append(self, frame: Frame, target: str) -> None:
        """Add rows to a table or branch, columns matched by name, in one commit."""
        ...

    def overwrite(self, frame: Frame, target: str) -> None:
        """Replace all rows of a table or branch, columns matched by name, in one commit; no row empties it."""
        ...

    def infer_files(self, group: FileGroup) -> tuple[Field, ...] | UnreadableFiles:
        """The columns that the values of landing files show, names spelt as they are there."""
        ...

    def check_files(self, groups: Sequence[FileGroup]) -> tuple[FileRows, ...] | UnreadableFiles:
        """All landing files read once, in one job, and what was found in each; a file without a record may be left out."""
        ...

    def corrupt_records(self, groups: Sequence[FileGroup]) -> Mapping[str, str]:
        """One record that does not fit, for each file that has some; cut to a length for messages."""
        ...

    def read_files(self, group: FileGroup) -> Frame:
        """The rows of landing files; a record that does not fit fails the job that meets it."""
        ...

    def union(self, frames: Sequence[Frame]) -> Frame:
        """Rows of all frames, columns matched by name, absent ones NULL."""
        ...

    def close(self) -> None:
        """Give the session back."""
        ...
