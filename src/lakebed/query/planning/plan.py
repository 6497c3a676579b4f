"""The plan of a query: the text to run, and for each table the snapshot and the files it reads."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from lakebed.names import TableName, duckdb_identifier
from lakebed.ports import Column, Pointer, Predicate, Scan, Snapshot, TableMetadata
from lakebed.query.parsing.parse_nodes import Json
from lakebed.query.parsing.query_text import Piece
from lakebed.query.planning.listings import ListedTable
from lakebed.query.request import TablePart


@dataclass(frozen=True)
class PinnedTable:
    """A table at the snapshot that a query reads, with the schema to read it with."""

    pointer: Pointer
    metadata: TableMetadata
    snapshot: Snapshot | None
    schema: int

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that readers see."""
        return self.metadata.columns_of(self.schema)

    @property
    def table(self) -> TableName:
        return self.pointer.table

    @property
    def past_snapshot(self) -> int | None:
        """The id of the snapshot, unless it is the table's present one."""
        head = self.metadata.head()
        if self.snapshot is None or (head is not None and head.id == self.snapshot.id):
            return None
        return self.snapshot.id


@dataclass(frozen=True)
class SystemTable:
    """A table that Lakebed keeps about itself, such as the query log: its rows come from a SELECT."""

    name: tuple[str, ...]
    select: str


@dataclass(frozen=True)
class CatalogView:
    """A view: answered by a query over its tables, or, where `why` says why only Spark can, from files that Spark wrote."""

    name: TableName
    plan: "QueryPlan | None" = None
    why: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadTarget:
    """What a name in the text stands for."""

    source: PinnedTable | SystemTable | CatalogView
    part: TablePart = "rows"


@dataclass(frozen=True)
class PlannedTable:
    """Something that the query reads under a name of three parts. `scan` is there once the files are known."""

    name: tuple[str, str, str]
    target: ReadTarget
    predicate: Predicate | None = None
    scan: Scan | None = None

    @property
    def quoted(self) -> str:
        return ".".join(map(duckdb_identifier, self.name))


@dataclass(frozen=True)
class QueryPlan:
    """What runs: the text, with the names of `views` in place of tables.

    `more` says that it may read something else too, such as files that are named in it; unlike those of tables, they change.
    `listed` are the tables of a statement that lists what there is.
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
        """The tables that are read, and their snapshots; of a table that is read at several, the first."""
        found: dict[TableName, int | None] = {}
        for view in all_tables(self.tables):
            if isinstance(view.target.source, PinnedTable):
                found.setdefault(
                    view.target.source.table, view.target.source.snapshot.id if view.target.source.snapshot else None
                )
        return found

    @property
    def spark_views(self) -> tuple[CatalogView, ...]:
        """The views whose rows only Spark can tell."""
        found = [view.target.source for view in self.tables]
        return tuple(what for what in found if isinstance(what, CatalogView) and what.why)

    def with_view_files(self, files: Mapping[TableName, tuple[str, ...]]) -> "QueryPlan":
        """The plan with what Spark wrote of such views."""

        def written(view: PlannedTable) -> PlannedTable:
            what = view.target.source
            if not isinstance(what, CatalogView) or not what.why:
                return view
            return replace(view, target=ReadTarget(replace(what, files=files[what.name])))

        return replace(self, tables=tuple(map(written, self.tables)))

    def with_scans(self, scans: Mapping[tuple[str, str, str], Scan]) -> "QueryPlan":
        """The plan with the files of each table."""
        return replace(self, tables=tuple(replace(view, scan=scans.get(view.name)) for view in self.tables))


def all_tables(views: Iterable[PlannedTable]) -> Iterator[PlannedTable]:
    """What is read, the tables behind views included, and these themselves."""
    for view in views:
        yield view
        if isinstance(view.target.source, CatalogView) and view.target.source.plan:
            yield from all_tables(view.target.source.plan.tables)
