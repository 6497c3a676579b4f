"""What results and lazy tables have in common: rows for whatever library the caller works with."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakebed.notebook import html_table
from lakebed.query.results.pandas_frame import DtypeBackend, as_pandas

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    import pyarrow as pa

BATCH = 65_536
PREVIEW = 20  # rows in a notebook


class RowSource(ABC):
    """Rows that can be read as often as needed, each time the same."""

    _cursor: Iterator[tuple[Any, ...]] | None = None  # where `fetchone` stands

    @property
    @abstractmethod
    def column_types(self) -> tuple[tuple[str, str], ...]:
        """Name and type of each column, to be shown."""

    @abstractmethod
    def to_arrow_batches(self, *, rows: int = BATCH) -> "pa.RecordBatchReader":
        """The rows as they are read, in batches of about `rows`.

        Only a few batches are in memory.
        """

    @abstractmethod
    def to_polars(self) -> "pl.DataFrame":
        """All rows as a Polars DataFrame."""

    @abstractmethod
    def to_duckdb(self) -> Any:
        """A `duckdb.DuckDBPyRelation`, on a connection of its own."""

    @abstractmethod
    def to_spark(self) -> Any:
        """A Spark DataFrame; starts Spark if it is not running yet."""

    def to_arrow(self) -> "pa.Table":
        """All rows as an Arrow table."""
        return self.to_arrow_batches().read_all()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's PyCapsule interface, so that `lake.write` and other libraries take this
        as it is.
        """
        return self.to_arrow_batches().__arrow_c_stream__(requested_schema)

    def to_pandas(self, *, dtype_backend: DtypeBackend | None = None) -> "pd.DataFrame":
        """All rows as a pandas DataFrame.

        `dtype_backend="pyarrow"` keeps every type, and NaN distinct from NULL.
        """
        return as_pandas(self.to_arrow(), dtype_backend)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The rows as tuples of Python values; every iteration begins with the first row."""
        for batch in self.to_arrow_batches():
            columns = [column.to_pylist() for column in batch.columns]
            yield from zip(*columns, strict=True)

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row; None after the last one."""
        if self._cursor is None:
            self._cursor = iter(self)
        return next(self._cursor, None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that `fetchone` has not returned yet."""
        cursor, self._cursor = self._cursor, None
        return list(self if cursor is None else cursor)

    def _html(self, title: str, rows: Sequence[tuple[Any, ...]]) -> str:
        """A table for a notebook: the columns with their types, and some rows."""
        return html_table(title, self.column_types, rows)
