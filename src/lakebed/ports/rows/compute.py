"""The engine that computes and writes: one session for each run."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from lakebed.ports.rows.frames import Field, Frame
from lakebed.ports.rows.landing_reader import LandingReader


class Compute(Protocol):
    """One run's session; every snapshot it commits has the run's id in its summary."""

    @property
    def session(self) -> Any:
        """What a Python pipeline is given as `spark`."""
        ...

    @property
    def landing(self) -> LandingReader:
        """Reads landing files in this session."""
        ...

    def set_snapshot_property(self, key: str, value: str) -> None:
        """Add this to the summary of every snapshot that the session commits from now on."""
        ...

    def query(self, text: str) -> Frame:
        """The rows of a query."""
        ...

    def frame(self, result: Any, *, known: Callable[[], Sequence[Field]] = tuple) -> Frame:
        """Rows that a pipeline returned or a user passed, as a frame.

        They may be Spark, Arrow, pandas, Polars, DuckDB or a lazy table of the lake. Values keep
        their types, or the column is refused by name. `known` returns the table's columns, for
        columns without any value.
        """
        ...

    def fields(self, frame: Frame) -> tuple[Field, ...]:
        """The columns of a frame; computes no row."""
        ...

    def create_view(self, frame: Frame, view: str) -> None:
        """Make a frame readable under a name, in this session only."""
        ...

    def execute(self, statement: str) -> None:
        """Run a statement that returns no rows."""
        ...

    def rows(self, query: str | Frame, *, limit: int) -> list[dict[str, Any]]:
        """The first rows of a query, at most `limit`."""
        ...

    def create_table(
        self, frame: Frame, table: str, *, location: str | None, properties: Mapping[str, str]
    ) -> None:
        """Compute a frame once, into a new table."""
        ...

    def conform(self, frame: Frame, fields: Sequence[Field]) -> Frame:
        """The frame with exactly these columns: cast where types differ, NULL where a column is
        missing.
        """
        ...

    def select(self, frame: Frame, expressions: Sequence[str]) -> Frame:
        """A frame of these SQL expressions over the columns of another."""
        ...

    def union(self, frames: Sequence[Frame]) -> Frame:
        """The rows of all frames; columns are matched by name, and NULL where a frame
        lacks them.
        """
        ...

    def materialize(self, frame: Frame) -> tuple[str, ...]:
        """Compute a frame once, into Parquet files of the lake that are removed when the session is
        closed.
        """
        ...

    def arrow(self, frame: Frame) -> Any:
        """All rows of a small frame, as an Arrow table."""
        ...

    def append(self, frame: Frame, target: str) -> None:
        """Add rows to a table or branch in one commit; columns are matched by name."""
        ...

    def overwrite(self, frame: Frame, target: str, *, where: str | None = None) -> None:
        """Replace all rows of a table or branch in one commit, or those for which a condition is
        true; an empty frame only removes them.

        `where` is SQL over the table's columns; rows for which it is NULL stay. It gives the same
        answer whenever it is asked, and the frame the same rows: both may be computed several
        times. Columns that the frame lacks are NULL.
        """
        ...

    def replace_files(
        self, frame: Frame, target: str, *, where: str, since: int | None = None
    ) -> None:
        """Replace the rows for which a condition over partition fields is true, whole files at a
        time, in one commit; an empty frame only removes them.

        Where the table has files with other rows too, they are rewritten. With `since`, a snapshot
        of the target, they are refused instead, and so is the commit if such rows were changed by
        others after it: `RowsChanged`.
        """
        ...

    def close(self) -> None:
        """End the session and remove its files."""
        ...


class ComputeSessions(Protocol):
    """Sessions of the engine, which starts with the first of them."""

    def open(self, run_id: str) -> Compute:
        """A session of its own; the caller closes it."""
        ...

    def watch(self, on_progress: Callable[[int, int], None]) -> AbstractContextManager[None]:
        """While the block lasts, `on_progress` is told how many tasks of the engine are done, and
        of how many.
        """
        ...

    def cancel(self) -> None:
        """Cancel what is being computed for this process; a session that the user passed in is
        left alone.
        """
        ...
