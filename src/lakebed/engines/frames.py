"""Tables and query results as the frames of every library, each through the engine that does it
best.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from lakebed.engines.duckdb.engine import DuckEngine
from lakebed.ports import Predicate, ScanColumn
from lakebed.query.engine import Batches, ReadRequest
from lakebed.query.lazy.selection import TableSelection
from lakebed.query.parsing.parse_nodes import Json
from lakebed.query.planning.plan import ChosenLayout, PlannedTable

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import SparkSession


class EngineFrames:
    """Reads selected tables and converts Arrow tables.

    `spark` starts Spark, or returns the session that runs.
    """

    def __init__(self, duckdb: DuckEngine, spark: "Callable[[], SparkSession]") -> None:
        self._duckdb, self._spark = duckdb, spark

    def parse(self, sql: str) -> tuple[str, Json]:
        return self._duckdb.parse(sql)

    def schema(self, columns: Iterable[ScanColumn]) -> "pa.Schema":
        from lakebed.engines.arrow import arrow_schema

        found: pa.Schema = arrow_schema(columns)
        return found

    def batches(
        self,
        selection: TableSelection,
        table: PlannedTable,
        request: ReadRequest,
        *,
        memory: str | None,
    ) -> "Iterator[pa.RecordBatch]":
        from lakebed.engines.duckdb.streams import stream_batches

        return stream_batches(self._duckdb, selection, table, request, memory=memory)

    def count(self, selection: TableSelection, table: PlannedTable, *, memory: str | None) -> int:
        from lakebed.engines.duckdb.streams import count_rows

        return count_rows(self._duckdb, selection, table, memory=memory)

    def relation(
        self,
        selection: TableSelection,
        table: PlannedTable,
        request: ReadRequest,
        *,
        memory: str | None,
        on_end: Callable[[], None],
    ) -> Any:
        from lakebed.engines.duckdb.streams import private_relation

        return private_relation(
            self._duckdb, selection, table, request, memory=memory, on_end=on_end
        )

    def polars_frame(
        self, schema: "pa.Schema", columns: tuple[ScanColumn, ...], batches: Batches
    ) -> "pl.LazyFrame":
        from lakebed.engines.polars import lazy_frame

        return lazy_frame(schema, columns, batches)

    def spark_frame(
        self,
        selection: TableSelection,
        predicate: Predicate | None,
        layout: ChosenLayout | None = None,
    ) -> Any:
        from lakebed.engines.spark.reading import pinned_frame

        return pinned_frame(self._spark(), selection, predicate, layout)

    def to_duckdb(self, table: "pa.Table") -> Any:
        from lakebed.engines.duckdb.streams import arrow_relation

        return arrow_relation(self._duckdb, table)

    def to_spark(self, table: "pa.Table") -> Any:
        return self._spark().createDataFrame(table)
