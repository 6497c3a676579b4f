"""The answer of a query, as whatever the reader works with."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lakebed.errors import LakebedError, MissingExtra
from lakebed.query.planning.explain import TableExplanation, explain_plan
from lakebed.query.planning.plan import QueryPlan
from lakebed.query.planning.planner import OperatorProfile, QueryRows
from lakebed.query.results.pandas_frame import DtypeBackend, as_pandas

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    import pyarrow as pa

_BATCH = 100_000
_FETCHED = 2_000


@dataclass(frozen=True)
class Profile:
    """What the first passage through the rows took; `operators` only where that was asked for."""

    plan_ms: float
    run_ms: float
    rows: int
    operators: tuple[OperatorProfile, ...] = ()


OnEnd = Callable[[int, LakebedError | None], None]  # how many rows were handed over, and what went wrong


class QueryResult:
    """Rows of one moment, computed as they are read. Asked a second time, the same states are read again.

    Close it, or read it to its end: until then a connection is kept for it.
    """

    def __init__(
        self,
        plan: QueryPlan,
        begin: Callable[[], QueryRows],
        *,
        limit: int | None = None,
        on_end: OnEnd | None = None,
        plan_ms: float = 0.0,
        profile: bool = False,
    ) -> None:
        self.plan, self._begin, self._limit = plan, begin, limit
        self.profile: Profile | None = None  # known when the rows were read
        self._plan_ms, self._profiling, self._began = plan_ms, profile, time.perf_counter()
        self._on_end: OnEnd | None = on_end
        self._open: QueryRows | None = None
        self.truncated = False  # whether an untrusted answer reached its limits; known at its end
        try:
            self._fresh: QueryRows | None = begin()
        except LakebedError as error:
            self._finish(0, error)
            raise
        self.columns = tuple(name for name, _ in self._fresh.columns)
        self.types = tuple(type_ for _, type_ in self._fresh.columns)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """One row after the other, as Python values."""
        left = self._limit
        with self._start_pass() as reading:
            while found := reading.rows.fetch(_FETCHED if left is None else min(left, _FETCHED)):
                reading.count += len(found)
                yield from found
                left = None if left is None else left - len(found)
                if left == 0:
                    break

    def batches(self, rows: int = _BATCH) -> "Iterator[pa.RecordBatch]":
        """Arrow record batches of about so many rows; no more than a few of them are in memory."""
        with self._start_pass() as reading:
            yield from self._limited(reading.rows.reader(rows), reading)

    def reader(self, rows: int = _BATCH) -> "pa.RecordBatchReader":
        """The same as one `pyarrow.RecordBatchReader`."""
        import pyarrow as pa

        reading = self._start_pass()
        source = reading.rows.reader(rows)

        def batches() -> "Iterator[pa.RecordBatch]":
            with reading:
                yield from self._limited(source, reading)

        return pa.RecordBatchReader.from_batches(source.schema, batches())

    def _limited(self, source: "pa.RecordBatchReader", reading: "_Pass") -> "Iterator[pa.RecordBatch]":
        left = self._limit
        for batch in source:
            shown = batch if left is None else batch.slice(0, left)
            reading.count += shown.num_rows
            yield shown
            left = None if left is None else left - shown.num_rows
            if left == 0:
                break

    def to_arrow(self) -> "pa.Table":
        """All rows as an Arrow table."""
        return self.reader().read_all()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's PyCapsule interface: what speaks it takes an answer as it is, as `lake.write` and `polars.DataFrame` do."""
        return self.reader().__arrow_c_stream__(requested_schema)

    def to_pandas(self, *, dtype_backend: DtypeBackend | None = None) -> "pd.DataFrame":
        """All rows as a pandas DataFrame; `dtype_backend="pyarrow"` keeps every type, and NaN apart from NULL."""
        return as_pandas(self.to_arrow(), dtype_backend)

    def to_polars(self) -> "pl.DataFrame":
        """All rows as a Polars DataFrame."""
        try:
            import polars as pl
        except ImportError:
            raise MissingExtra("polars", "A Polars frame") from None
        found = pl.from_arrow(self.to_arrow())
        assert isinstance(found, pl.DataFrame)  # noqa: S101 - a table gives no Series
        return found

    def explain(self) -> tuple[TableExplanation, ...]:
        """Of each table: files considered, files read, and why."""
        return explain_plan(self.plan)

    def _start_pass(self) -> "_Pass":
        rows, self._fresh = self._fresh or self._begin(), None
        self._open = rows
        self.truncated = False
        return _Pass(rows, self._end_pass)

    def _end_pass(self, rows: QueryRows, count: int, error: LakebedError | None) -> None:
        if self.profile is None and error is None:
            took = (time.perf_counter() - self._began) * 1000
            self.profile = Profile(self._plan_ms, took, count, rows.operators() if self._profiling else ())
        self.truncated = rows.truncated
        rows.close()
        self._finish(count, error)

    def _finish(self, count: int, error: LakebedError | None) -> None:
        on_end, self._on_end = self._on_end, None
        if on_end:
            on_end(count, error)

    def close(self) -> None:
        """Stop, whether all was read or not."""
        for rows in (self._fresh, self._open):
            if rows is not None:
                rows.close()
        self._fresh = self._open = None
        self._finish(0, None)

    def __enter__(self) -> "QueryResult":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_fresh", None) is not None:
            self.close()


class _Pass:
    """One passage through the rows."""

    def __init__(self, rows: QueryRows, ended: Callable[[QueryRows, int, LakebedError | None], None]) -> None:
        self.rows, self.count, self._ended = rows, 0, ended

    def __enter__(self) -> "_Pass":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended(self.rows, self.count, error if isinstance(error, LakebedError) else None)
