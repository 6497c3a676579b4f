"""What queries and lazy tables need of engines.

`app` gives them; nothing here imports an engine.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from lakebed.ports import Compute, Predicate, QueryRows, ScanColumn
from lakebed.query.parsing.parse_nodes import Json
from lakebed.query.planning.plan import ChosenLayout, PlannedTable, QueryPlan
from lakebed.query.request import QueryOptions

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from lakebed.query.lazy.selection import TableSelection

ROWS = 65_536  # of a batch


class QueryEngine(Protocol):
    """The engine that parses and answers queries: DuckDB."""

    def parse(self, sql: str) -> tuple[str, Json]:
        """The one statement and the engine's parse tree of it; for EXPLAIN, the tree of the
        explained statement.

        Raises `BadQuery` for anything that does not only read.
        """
        ...

    def run(
        self, plan: QueryPlan, options: QueryOptions, *, on_close: Callable[[], None] | None = None
    ) -> QueryRows:
        """Start the query; `on_close` is called when its rows are closed.

        Raises `BadQuery` for errors in the query, at their place in the text of the request.
        """
        ...

    def close(self) -> None:
        """Close what is not in use."""
        ...


class UntrustedEngine(Protocol):
    """Runs each query in a process of its own that can open the files of the plan and
    nothing else.
    """

    def run(self, plan: QueryPlan, options: QueryOptions) -> QueryRows:
        """Start the query."""
        ...

    def close(self) -> None:
        """End the processes that wait for a query."""
        ...


@dataclass(frozen=True)
class ReadRequest:
    """What to read of a selected table this time."""

    columns: tuple[str, ...]
    predicate: Predicate | None = None
    limit: int | None = None
    rows: int = ROWS  # of a batch


Batches = Callable[
    [tuple[str, ...], Predicate | None, int | None, int | None], Iterable["pa.RecordBatch"]
]


class TableReader(Protocol):
    """Reads one selected table; `memory` limits what DuckDB may use, such as `512MB`."""

    def parse(self, sql: str) -> tuple[str, Json]:
        """As `QueryEngine.parse`."""
        ...

    def schema(self, columns: Iterable[ScanColumn]) -> "pa.Schema":
        """The columns with Arrow's types."""
        ...

    def batches(
        self,
        selection: "TableSelection",
        table: PlannedTable,
        request: ReadRequest,
        *,
        memory: str | None,
    ) -> "Iterator[pa.RecordBatch]":
        """The rows as they are read."""
        ...

    def count(self, selection: "TableSelection", table: PlannedTable, *, memory: str | None) -> int:
        """How many rows fulfil the selection's condition."""
        ...

    def relation(
        self,
        selection: "TableSelection",
        table: PlannedTable,
        request: ReadRequest,
        *,
        memory: str | None,
        on_end: Callable[[], None],
    ) -> Any:
        """A `duckdb.DuckDBPyRelation`; `on_end` is called when it is garbage-collected."""
        ...

    def polars_frame(
        self, schema: "pa.Schema", columns: tuple[ScanColumn, ...], batches: Batches
    ) -> "pl.LazyFrame":
        """A LazyFrame that reads `batches` when it is collected."""
        ...

    def spark_frame(
        self,
        selection: "TableSelection",
        predicate: Predicate | None,
        layout: ChosenLayout | None = None,
    ) -> Any:
        """A Spark DataFrame of the selection, read through a layout if there is one."""
        ...


class FrameConverter(Protocol):
    """Turns Arrow tables into the frames of engines."""

    def to_duckdb(self, table: "pa.Table") -> Any:
        """A `duckdb.DuckDBPyRelation`."""
        ...

    def to_spark(self, table: "pa.Table") -> Any:
        """A Spark DataFrame."""
        ...


class Frames(TableReader, FrameConverter, Protocol):
    """Frames of every library, from tables and from results."""


class QueryEngines(Protocol):
    """The engines that answer queries, each opened when a query first needs it."""

    @property
    def duckdb(self) -> QueryEngine: ...

    @property
    def untrusted(self) -> UntrustedEngine: ...

    @property
    def frames(self) -> Frames: ...

    def run_by_spark(self, plan: QueryPlan) -> QueryRows:
        """Start a query in Spark's SQL, in a session of its own."""
        ...

    def compute(self) -> Compute:
        """Spark, for views that only Spark can answer; the caller closes it."""
        ...

    def close(self) -> None:
        """Close the engines that were opened."""
        ...
