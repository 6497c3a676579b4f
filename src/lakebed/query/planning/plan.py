"""The plan of a query: the text to run, and for each table the snapshot and the files it reads."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256

from lakebed.names import ForeignName, TableName, duckdb_identifier
from lakebed.ports import Column, Pointer, Predicate, Scan, Snapshot, TableMetadata
from lakebed.query.layouts.cost import ReadCost
from lakebed.query.layouts.verdict import LayoutVerdict
from lakebed.query.parsing.parse_nodes import Json
from lakebed.query.parsing.query_text import Piece, replaced
from lakebed.query.planning.listings import ListedTable
from lakebed.query.request import TablePart
from lakebed.tables import SnapshotRead, snapshot_read


@dataclass(frozen=True)
class PinnedTable:
    """A table at the snapshot that a query reads, with the schema to read it with."""

    pointer: Pointer
    metadata: TableMetadata
    snapshot: Snapshot | None
    schema: int
    pinned_at: float = field(default_factory=time.time, compare=False)  # seconds since 1970
    present: bool = field(default=True, compare=False)  # no other point in time was asked for

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that readers see."""
        return self.metadata.columns_of(self.schema)

    @property
    def table(self) -> TableName:
        return self.pointer.table

    @property
    def snapshot_id(self) -> int | None:
        """None while the table has no snapshot."""
        return self.snapshot.id if self.snapshot else None

    @property
    def reads(self) -> tuple[SnapshotRead, ...]:
        """What has to be protected while rows are read. Foreign tables cannot be."""
        if self.snapshot is None or isinstance(self.table, ForeignName):
            return ()
        pinned = snapshot_read(
            self.table, self.metadata, self.snapshot.id, pinned_at=self.pinned_at
        )
        return (pinned,)


@dataclass(frozen=True)
class SystemTable:
    """A table that Lakebed keeps about itself, such as the query log: its rows come from a
    SELECT.
    """

    name: tuple[str, ...]
    select: str


@dataclass(frozen=True)
class CatalogView:
    """A view: answered by a query over its tables, or, where `why` says why only Spark can, from
    files that Spark wrote.
    """

    name: TableName
    plan: "QueryPlan | None" = None
    why: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadTarget:
    """What a name in the text stands for: the rows of a source, or one of its metadata tables."""

    source: PinnedTable | SystemTable | CatalogView
    part: TablePart = "rows"


@dataclass(frozen=True)
class ChosenLayout:
    """A layout that is read instead of a table: these files of it, and with them `rest`, the files
    of the table whose batches are not fresh in it.

    For engines that choose files themselves: `batches` of the layout and `rest_batches` of the
    table have the same rows; a layout that is `whole` needs no condition.
    """

    name: str
    pinned: PinnedTable
    scan: Scan
    rest: Scan | None = None
    whole: bool = False
    batch_columns: tuple[str, ...] = ()
    batches: tuple[str, ...] = ()
    rest_batches: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Of what is read: equal ones have equal files and columns."""
        scans = [self.scan, *([self.rest] if self.rest else [])]
        said = [
            f"{scan.columns} {[group.names for group in scan.groups]} {scan.snapshot}"
            for scan in scans
        ]
        files = [file.location for scan in scans for file in scan.files]
        return sha256("\n".join((*said, *files)).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class LayoutChoice:
    """What was considered for a table: reading the table itself, and each of its layouts."""

    source: ReadCost
    verdicts: tuple[LayoutVerdict, ...]


@dataclass(frozen=True)
class PlannedTable:
    """What the query reads under a name of three parts. `scan` is set once its files are known;
    with a `layout` that is read instead of them.
    """

    name: tuple[str, str, str]
    target: ReadTarget
    predicate: Predicate | None = None
    scan: Scan | None = None
    layout: ChosenLayout | None = None
    choice: LayoutChoice | None = field(default=None, compare=False, repr=False)

    @property
    def quoted(self) -> str:
        return ".".join(map(duckdb_identifier, self.name))

    @property
    def content_name(self) -> tuple[str, str, str]:
        """The name of a table that is read through a layout, in a database that is named by what is
        read: other queries have the same under this name, or nothing.
        """
        catalog, schema, name = self.name
        digest = self.layout.digest if self.layout else ""
        return (catalog if catalog.endswith(digest) else f"{catalog} {digest}", schema, name)

    @property
    def pinned(self) -> tuple[PinnedTable, ...]:
        """The tables that must keep their snapshots while this is read."""
        source = self.target.source
        if not isinstance(source, PinnedTable):
            return ()
        return (source, self.layout.pinned) if self.layout else (source,)

    @property
    def reads(self) -> tuple[tuple[PinnedTable, Scan], ...]:
        """The tables whose files are read, each with its files: the table itself, its layout, or
        both.
        """
        source = self.target.source
        if not isinstance(source, PinnedTable) or self.scan is None:
            return ()
        if self.layout is None:
            return ((source, self.scan),)
        rest = ((source, self.layout.rest),) if self.layout.rest else ()
        return ((self.layout.pinned, self.layout.scan), *rest)


@dataclass(frozen=True)
class QueryPlan:
    """What runs: `text` is the SQL with the names of `tables` in place of the tables that it named.

    `reads_more` says that it may also read something else, such as files that it names; unlike
    those of tables, they may change. `listed` are the tables for a statement such as SHOW TABLES.
    """

    sql: str
    text: str
    tables: tuple[PlannedTable, ...]
    pieces: tuple[Piece, ...] = ()
    tree: Json | None = field(default=None, compare=False, repr=False)
    reads_more: bool = False
    listed: tuple[ListedTable, ...] | None = field(default=None, repr=False)

    @property
    def snapshots(self) -> dict[TableName, int | None]:
        """The tables that are read, each with its snapshot, or the first of several."""
        found: dict[TableName, int | None] = {}
        for table in all_tables(self.tables):
            source = table.target.source
            if isinstance(source, PinnedTable):
                found.setdefault(source.table, source.snapshot_id)
        return found

    @property
    def spark_views(self) -> tuple[CatalogView, ...]:
        """The views that only Spark can answer."""
        sources = [table.target.source for table in self.tables]
        return tuple(source for source in sources if isinstance(source, CatalogView) and source.why)

    def with_view_files(self, files: Mapping[TableName, tuple[str, ...]]) -> "QueryPlan":
        """The plan with the files that Spark wrote for such views."""

        def with_files(table: PlannedTable) -> PlannedTable:
            source = table.target.source
            if not isinstance(source, CatalogView) or not source.why:
                return table
            return replace(table, target=ReadTarget(replace(source, files=files[source.name])))

        return replace(self, tables=tuple(map(with_files, self.tables)))

    def with_tables(self, tables: Iterable[PlannedTable]) -> "QueryPlan":
        """The plan with these in place of its tables, one for each, under the names they have."""
        found = tuple(tables)
        names = {
            spelt: as_spelt(new.quoted)
            for old, new in zip(self.tables, found, strict=True)
            for as_spelt in (str, quoted_text)
            if (spelt := as_spelt(old.quoted)) and old.name != new.name
        }
        if not names:
            return replace(self, tables=found)
        pieces = tuple(
            replace(piece, text=names.get(piece.text, piece.text)) for piece in self.pieces
        )
        return replace(self, tables=found, pieces=pieces, text=replaced(self.sql, pieces))


def quoted_text(name: str) -> str:
    """A quoted name as an SQL text, as functions take it."""
    return "'" + name.replace("'", "''") + "'"


def all_tables(tables: Iterable[PlannedTable]) -> Iterator[PlannedTable]:
    """These tables and views, and the tables behind the views."""
    for table in tables:
        yield table
        source = table.target.source
        if isinstance(source, CatalogView) and source.plan:
            yield from all_tables(source.plan.tables)
