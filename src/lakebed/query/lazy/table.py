"""A table to be read later, by any frame library: pinned now, read when rows are needed."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

from lakebed.errors import MissingExtra, UsageError
from lakebed.names import TableName
from lakebed.ports import LakePorts, Predicate, Scan
from lakebed.query.engine import ROWS, ReadRequest, TableReader
from lakebed.query.layouts.choosing import SourceScan
from lakebed.query.layouts.wish import LayoutWish
from lakebed.query.lazy.selection import TableSelection
from lakebed.query.planning.layout_plan import LayoutPlanning
from lakebed.query.planning.plan import PlannedTable, ReadTarget
from lakebed.query.results.row_source import PREVIEW, RowSource
from lakebed.requests import Engine
from lakebed.tables import SnapshotGuard, SnapshotRead
from lakebed.types import read_iceberg_type

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


class ReadProtection(Protocol):
    """Keeps snapshots from expiry while they are read."""

    def protect(self, reads: Iterable[SnapshotRead]) -> SnapshotGuard:
        """Until the guard is released."""
        ...

    def protect_until_closed(self, reads: Iterable[SnapshotRead]) -> None:
        """Until the lake is closed."""
        ...


@dataclass(frozen=True)
class LazyTableServices:
    """What lazy tables are read through."""

    ports: LakePorts
    reader: TableReader
    protection: ReadProtection
    layouts: LayoutPlanning | None = None  # None: tables are read themselves


class LazyTable(RowSource):
    """A table at one snapshot, whatever is committed meanwhile.

    The snapshot is protected from expiry while rows are read, that of a Spark frame until the lake
    is closed. Types are Iceberg's; `memory` limits
    what DuckDB may use.
    """

    def __init__(
        self,
        selection: TableSelection,
        services: LazyTableServices,
        *,
        memory: str | None = None,
        layouts: bool = True,
    ) -> None:
        self._selection, self._services, self._memory = selection, services, memory
        self._layouts = layouts

    @property
    def name(self) -> TableName:
        """The table that is read."""
        return self._selection.pinned.table

    @property
    def snapshot(self) -> int | None:
        """The snapshot that is read; None while the table has none."""
        return self._selection.snapshot

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are read."""
        return self._selection.columns

    @property
    def column_types(self) -> tuple[tuple[str, str], ...]:
        """Name and type of each column, as pipelines write it."""
        types = {column.name: column.type for column in self._selection.pinned.columns}
        return tuple((name, str(read_iceberg_type(types[name]))) for name in self.columns)

    @property
    def schema(self) -> "pa.Schema":
        """Names and Arrow types of the columns."""
        by_name = {column.name: column for column in self.scan().columns}
        return self._services.reader.schema(by_name[name] for name in self.columns)

    def scan(self) -> Scan:
        """Which files are read, of how many, unless a layout is read instead."""
        return self._scan(self.columns)

    def to_arrow_batches(self, *, rows: int = ROWS) -> "pa.RecordBatchReader":
        """The rows as they are read, in batches of about `rows`.

        Only a few batches are in memory.
        """
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(
            self.schema, self._batches(self.columns, None, None, rows)
        )

    @overload
    def to_polars(self, *, lazy: Literal[False] = False) -> "pl.DataFrame": ...
    @overload
    def to_polars(self, *, lazy: Literal[True]) -> "pl.LazyFrame": ...
    def to_polars(self, *, lazy: bool = False) -> "pl.DataFrame | pl.LazyFrame":
        """All rows as a Polars DataFrame.

        With `lazy` a LazyFrame, which skips files and rows that its filters exclude.
        """
        try:
            import polars  # noqa: F401 - the engine needs it
        except ImportError:
            raise MissingExtra("polars", "A Polars frame") from None
        frame = self._services.reader.polars_frame(self.schema, self.scan().columns, self._batches)
        return frame if lazy else frame.collect()

    def to_duckdb(self) -> Any:
        """A `duckdb.DuckDBPyRelation`, on a connection of its own that lasts as long as the
        relation and those made from it.
        """
        with self._protected() as guards:
            planned = self._plan(self.columns, guards=guards)
            held = guards.pop_all()
        try:
            return self._services.reader.relation(
                self._selection,
                planned,
                ReadRequest(self.columns),
                memory=self._memory,
                on_end=held.close,
            )
        except BaseException:
            held.close()
            raise

    def to_spark(self) -> Any:
        """A Spark DataFrame of the same snapshot, columns and rows.

        The whole condition must be known to Spark.
        """
        where = self._selection.where
        if where is not None and where.exact is None:
            raise UsageError(
                f"this condition cannot be translated for Spark: {where.text}",
                next="Omit it here, and filter the DataFrame: lake.table(…).to_spark().filter(…)",
            )
        self._services.protection.protect_until_closed(self._selection.pinned.reads)
        layout = self._choose(self._scan(self.columns), self.columns, engine="spark").layout
        if layout:
            self._services.protection.protect_until_closed(layout.pinned.reads)
        return self._services.reader.spark_frame(
            self._selection, where.exact if where else None, layout
        )

    def count(self) -> int:
        """How many rows there are."""
        scan = self._scan(())
        if self._selection.where is None and scan.plain:
            return scan.rows
        with self._protected() as guards:
            planned = self._plan((), guards=guards)
            return self._services.reader.count(self._selection, planned, memory=self._memory)

    def _scan(self, names: Sequence[str], predicate: Predicate | None = None) -> Scan:
        selection = self._selection
        return self._services.ports.scans.plan(
            selection.pinned.pointer,
            snapshot=selection.snapshot,
            schema=selection.pinned.schema,
            predicate=selection.predicate(predicate),
            columns=selection.scanned(names),
        )

    def _plan(
        self,
        names: Sequence[str],
        predicate: Predicate | None = None,
        *,
        limit: int | None = None,
        guards: ExitStack,
    ) -> PlannedTable:
        """The files to read, or the layout to read instead, which is protected too."""
        scan = self._scan(names, predicate)
        planned = self._choose(scan, names, predicate, limit=limit)
        if planned.layout:
            guards.enter_context(self._services.protection.protect(planned.layout.pinned.reads))
        return planned

    def _choose(
        self,
        scan: Scan,
        names: Sequence[str],
        predicate: Predicate | None = None,
        *,
        limit: int | None = None,
        engine: Engine = "duckdb",
    ) -> PlannedTable:
        selection, layouts = self._selection, self._services.layouts
        planned = PlannedTable(("", "", ""), ReadTarget(selection.pinned), scan=scan)
        if layouts is None or not self._layouts:
            return planned
        whole, needed = selection.predicate(predicate), selection.scanned(names)
        in_order = limit is not None or (selection.where and selection.where.order_sensitive)
        refused = in_order and layouts.settings.order == "strict"
        layout, choice = layouts.chooser.choose(
            SourceScan(selection.pinned, scan, whole, needed),
            LayoutWish("ORDER_SENSITIVE" if refused else None, engine=engine),
        )
        return replace(planned, layout=layout, choice=choice)

    def _batches(
        self,
        names: tuple[str, ...],
        predicate: Predicate | None,
        limit: int | None,
        rows: int | None,
    ) -> "Iterator[pa.RecordBatch]":
        with self._protected() as guards:
            planned = self._plan(names, predicate, limit=limit, guards=guards)
            request = ReadRequest(names, predicate, limit, rows or ROWS)
            yield from self._services.reader.batches(
                self._selection, planned, request, memory=self._memory
            )

    def _protected(self) -> ExitStack:
        """Keeps the snapshot from expiry, until it is closed."""
        guards = ExitStack()
        guards.enter_context(self._services.protection.protect(self._selection.pinned.reads))
        return guards

    def __repr__(self) -> str:
        return f"LazyTable({str(self.name)!r}, snapshot={self.snapshot})"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks; no more of them are read."""
        batches = self._batches(self.columns, None, PREVIEW, PREVIEW)
        rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
        return self._html(f"{self.name}, snapshot {self.snapshot}", rows[:PREVIEW])
