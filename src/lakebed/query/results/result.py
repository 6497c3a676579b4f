"""The result of a query."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lakebed.errors import LakebedError, MissingExtra
from lakebed.ports import OperatorProfile, QueryRows
from lakebed.query.engine import FrameConverter
from lakebed.query.planning.explain import TableExplanation, explain_plan
from lakebed.query.planning.plan import QueryPlan
from lakebed.query.results.row_source import PREVIEW, RowSource
from lakebed.requests import QueryRequest

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

_BATCH = 100_000
_FETCHED = 2_000  # rows at a time


@dataclass(frozen=True)
class Profile:
    """What the first reading of the rows took.

    `operators` only if the request asked for a profile.
    """

    plan_ms: float
    run_ms: float
    rows: int
    operators: tuple[OperatorProfile, ...] = ()


OnEnd = Callable[
    [int, LakebedError | None], None
]  # how many rows were read, and the error that ended it


class QueryResult(RowSource):
    """Rows as of one moment, computed as they are read.

    Reading them again runs the query again, over the same snapshots.

    Close it or read it to the end: until then it keeps a connection.
    """

    def __init__(
        self,
        plan: QueryPlan,
        rows: QueryRows,
        run: Callable[[], QueryRows],
        *,
        request: QueryRequest,
        frames: FrameConverter,
        on_end: OnEnd,
        plan_ms: float = 0.0,
    ) -> None:
        self.plan, self._run, self._request, self._frames = plan, run, request, frames
        self.profile: Profile | None = None  # known when the rows have been read
        self.truncated = False  # whether an untrusted answer reached its limits; known at its end
        self._plan_ms, self._began = plan_ms, time.perf_counter()
        self._on_end: OnEnd | None = on_end
        self._unread: QueryRows | None = rows
        self._open: QueryRows | None = None
        self.columns = tuple(name for name, _ in rows.columns)
        self.types = tuple(type_ for _, type_ in rows.columns)

    @property
    def column_types(self) -> tuple[tuple[str, str], ...]:
        """Name and type of each column; types are the engine's."""
        return tuple(zip(self.columns, self.types, strict=True))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The rows as tuples of Python values; every iteration begins with the first row."""
        left = self._request.limit
        with self._start_pass() as reading:
            while found := reading.rows.fetch(_FETCHED if left is None else min(left, _FETCHED)):
                reading.count += len(found)
                yield from found
                left = None if left is None else left - len(found)
                if left == 0:
                    break

    def to_arrow_batches(self, *, rows: int = _BATCH) -> "pa.RecordBatchReader":
        """The rows as they are computed, in batches of about `rows`.

        Only a few batches are in memory.
        """
        import pyarrow as pa

        reading = self._start_pass()
        source = reading.rows.reader(rows)

        def batches() -> "Iterator[pa.RecordBatch]":
            with reading:
                yield from self._limited(source, reading)

        return pa.RecordBatchReader.from_batches(source.schema, batches())

    def _limited(
        self, source: "pa.RecordBatchReader", reading: "_Pass"
    ) -> "Iterator[pa.RecordBatch]":
        left = self._request.limit
        for batch in source:
            shown = batch if left is None else batch.slice(0, left)
            reading.count += shown.num_rows
            yield shown
            left = None if left is None else left - shown.num_rows
            if left == 0:
                break

    def to_polars(self) -> "pl.DataFrame":
        """All rows as a Polars DataFrame."""
        try:
            import polars as pl
        except ImportError:
            raise MissingExtra("polars", "A Polars frame") from None
        found = pl.from_arrow(self.to_arrow())
        assert isinstance(found, pl.DataFrame)  # noqa: S101 - a table gives no Series
        return found

    def to_duckdb(self) -> Any:
        """All rows as a `duckdb.DuckDBPyRelation`, on a connection of its own."""
        return self._frames.to_duckdb(self.to_arrow())

    def to_spark(self) -> Any:
        """All rows as a Spark DataFrame; starts Spark if it is not running yet."""
        return self._frames.to_spark(self.to_arrow())

    def explain(self) -> tuple[TableExplanation, ...]:
        """For each table: files considered, files read, and why."""
        return explain_plan(self.plan)

    def _start_pass(self) -> "_Pass":
        rows, self._unread = self._unread or self._run(), None
        self._open = rows
        self.truncated = False
        return _Pass(rows, self._end_pass)

    def _end_pass(self, rows: QueryRows, count: int, error: LakebedError | None) -> None:
        if self.profile is None and error is None:
            took = (time.perf_counter() - self._began) * 1000
            operators = rows.operators() if self._request.profile else ()
            self.profile = Profile(self._plan_ms, took, count, operators)
        self.truncated = rows.truncated
        rows.close()
        self._finish(count, error)

    def _finish(self, count: int, error: LakebedError | None) -> None:
        on_end, self._on_end = self._on_end, None
        if on_end:
            on_end(count, error)

    def close(self) -> None:
        """Stop the query, whether all rows were read or not."""
        for rows in (self._unread, self._open):
            if rows is not None:
                rows.close()
        self._unread = self._open = None
        self._finish(0, None)

    def __enter__(self) -> "QueryResult":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_unread", None) is not None:
            self.close()

    def __repr__(self) -> str:
        return f"QueryResult({', '.join(f'{name} {type_}' for name, type_ in self.column_types)})"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks.

        They are computed apart, so that the result itself stays unread.
        """
        limit = self._request.limit
        rows = self._run()
        try:
            return self._html(
                "Query result", rows.fetch(PREVIEW if limit is None else min(limit, PREVIEW))
            )
        finally:
            rows.close()


class _Pass:
    """One reading of the rows, from the first to the last."""

    def __init__(
        self, rows: QueryRows, ended: Callable[[QueryRows, int, LakebedError | None], None]
    ) -> None:
        self.rows, self.count, self._ended = rows, 0, ended

    def __enter__(self) -> "_Pass":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended(self.rows, self.count, error if isinstance(error, LakebedError) else None)
