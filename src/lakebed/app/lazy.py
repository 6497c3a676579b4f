"""A table to be read later, by any frame library: pinned when it is asked for, read when rows are."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakebed.errors import MissingExtra, UnknownName, UsageError
from lakebed.names import TableName
from lakebed.ports import Catalog, Events, Predicate, Scan, Scans
from lakebed.query.lazy.selection import TableSelection
from lakebed.query.results.pandas_frame import DtypeBackend, as_pandas
from lakebed.tables import SnapshotGuard, protect_snapshots

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from lakebed.engines.duckdb import DuckSessions
    from lakebed.engines.types import DuckRelation, SparkSession

_ROWS = 65_536


@dataclass(frozen=True)
class TableReaders:
    """What reads tables of a lake."""

    catalog: Catalog
    scans: Scans
    events: Events
    sessions: "Callable[[], DuckSessions]"
    spark: "Callable[[], SparkSession]"


class LazyTable:
    """A table at one snapshot, whatever is committed meanwhile; every frame made of it has a connection of its own.

    The snapshot is kept from expiry while rows are read. Types are Iceberg's own; `memory` bounds what DuckDB may use.
    """

    def __init__(self, chosen: TableSelection, reading: TableReaders, *, memory: str | None = None) -> None:
        self._chosen, self._reading, self._memory = chosen, reading, memory

    @property
    def name(self) -> TableName:
        return self._chosen.pinned.table

    @property
    def snapshot(self) -> int | None:
        """The snapshot that is read; None while the table has none."""
        return self._chosen.snapshot

    @property
    def columns(self) -> tuple[str, ...]:
        return self._chosen.columns

    @property
    def schema(self) -> "pa.Schema":
        """Names and types of the columns, as Arrow says them."""
        from lakebed.engines.arrow import arrow_schema

        by_name = {column.name: column for column in self._scan(self.columns).columns}
        return arrow_schema(by_name[name] for name in self.columns)

    def scan(self) -> Scan:
        """Which files are read, of how many."""
        return self._scan(self.columns)

    def arrow_reader(self, *, rows: int = _ROWS) -> "pa.RecordBatchReader":
        """The rows as they are read, in batches of about so many; memory is that of a few batches."""
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self.schema, self._batches(self.columns, None, None, rows))

    def arrow(self) -> "pa.Table":
        """All rows at once."""
        return self.arrow_reader().read_all()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's PyCapsule interface: what speaks it takes a table as it is, as `lake.write` and `polars.DataFrame` do."""
        return self.arrow_reader().__arrow_c_stream__(requested_schema)

    def pandas(self, *, dtype_backend: DtypeBackend | None = None) -> Any:
        """All rows at once, as a `pandas.DataFrame`; `dtype_backend="pyarrow"` keeps every type, and NaN apart from NULL."""
        return as_pandas(self.arrow(), dtype_backend)

    def lazy(self) -> "pl.LazyFrame":
        """A Polars LazyFrame. Its filters leave out files and rows early where DuckDB knows them, and all of them hold."""
        try:
            from lakebed.engines.polars import lazy_frame
        except ImportError:
            raise MissingExtra("polars", "A Polars frame") from None
        scan = self._scan(self.columns)
        return lazy_frame(self.schema, scan.columns, self._batches)

    def duckdb(self) -> "DuckRelation":
        """A relation on a DuckDB connection of its own, which lasts as long as the relation."""
        from lakebed.engines.duckdb.streams import ReadRequest, private_relation

        held = self._protected()
        try:
            scan = self._scan(self.columns)
            sessions = self._reading.sessions()
            found: DuckRelation = private_relation(
                sessions, self._chosen, scan, ReadRequest(self.columns), memory=self._memory, on_end=held.release
            )
            return found
        except BaseException:
            held.release()
            raise

    def spark(self) -> Any:
        """A Spark DataFrame of the same snapshot, columns and rows. Spark must be able to say the condition, all of it."""
        from lakebed.engines.spark.reading import pinned_frame

        where = self._chosen.where
        if where is not None and where.exact is None:
            raise UsageError(
                f"this condition cannot be said in Spark's words: {where.text}",
                next="Leave it away here, and filter the DataFrame: lake.table(…).spark().filter(…)",
            )
        return pinned_frame(self._reading.spark(), self._chosen, where.exact if where else None)

    def count(self) -> int:
        """How many rows there are."""
        scan = self._scan(())
        if self._chosen.where is None and scan.plain:
            return scan.rows
        from lakebed.engines.duckdb.streams import count_rows

        with self._protected():
            return count_rows(self._reading.sessions(), self._chosen, scan, memory=self._memory)

    def _scan(self, names: Sequence[str], predicate: Predicate | None = None) -> Scan:
        chosen = self._chosen
        return self._reading.scans.plan(
            chosen.pinned.pointer,
            snapshot=chosen.snapshot,
            schema=chosen.pinned.schema,
            predicate=chosen.predicate(predicate),
            columns=chosen.scanned(names),
        )

    def _batches(self, names: tuple[str, ...], predicate: Predicate | None, limit: int | None, rows: int | None) -> Iterator[Any]:
        from lakebed.engines.duckdb.streams import ReadRequest, stream_batches

        with self._protected():
            scan = self._scan(names, predicate)
            wanted = ReadRequest(names, predicate, limit, rows or _ROWS)
            yield from stream_batches(self._reading.sessions(), self._chosen, scan, wanted, memory=self._memory)

    def _protected(self) -> SnapshotGuard:
        """The snapshot, protected from expiry for the length of a block."""
        snapshots = {self.name: [] if self.snapshot is None else [self.snapshot]}
        return protect_snapshots(self._reading.events, snapshots, require_kept=self._require_kept)

    def _require_kept(self) -> None:
        known = self._reading.catalog.pointers([self.name])
        if self.name not in known:
            raise UnknownName("table", str(self.name), map(str, self._reading.catalog.pointers()))
        present = self._reading.catalog.metadata(known.values())[self.name]
        if self.snapshot is not None and self.snapshot not in present.snapshots:
            raise UsageError(
                f"{self.name} was pinned to snapshot {self.snapshot}, which expired meanwhile.", next="Ask for the table again."
            )

    def __repr__(self) -> str:
        return f"LazyTable({str(self.name)!r}, snapshot={self.snapshot})"
