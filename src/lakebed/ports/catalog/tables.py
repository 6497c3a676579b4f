"""A table's metadata: columns, snapshots, refs and properties."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from lakebed.names import ForeignName, TableName

MAIN = "main"
_OF_ROWS = (
    "added-data-files", "deleted-data-files", "added-delete-files", "removed-delete-files",
    "added-records", "deleted-records",
)  # fmt: skip
OWN_COLUMNS = "lakebed.own-columns"  # summary key: the columns that the strategy added, as JSON
RUN_ID = "lakebed.run-id"  # summary key: the run that wrote the snapshot
# property: the table's name where its folder does not tell it, should the catalog be lost
NAME = "lakebed.table"
# property: the folder whose files a table took over as they are; they are not Lakebed's to remove
ADOPTED_FROM = "lakebed.adopted-from"
ADOPTED_NAMES = "lakebed.adopted-names"  # property: the name mapping that such files need
NAME_MAPPING = "schema.name-mapping.default"  # Iceberg's: columns of files without field ids
# how far the clocks of machines may differ; Iceberg itself refuses to commit beyond a minute
CLOCK_TOLERANCE = timedelta(seconds=30)
UNPUBLISHED = "lakebed.unpublished"  # property of a first run's table until it is published
# property: the last decision on landing files that the table's commits have recorded
LEDGER_DECISION = "lakebed.ledger-decision"
SOURCE_UUID = "lakebed.source-uuid"  # property of a derived table: the table it is computed from


@dataclass(frozen=True)
class Column:
    """One top-level column."""

    name: str
    type: str
    required: bool
    doc: str = ""
    id: int = field(default=0, compare=False)  # stays the same when the column is renamed
    default: object = field(
        default=None, compare=False
    )  # in rows older than the column, as the metadata has it


@dataclass(frozen=True)
class ColumnAlias:
    """A column under the name that readers are to see; `of` is its name in the files or query that
    is read.
    """

    name: str
    of: str


@dataclass(frozen=True)
class Snapshot:
    """What one commit made of a table."""

    id: int
    parent: int | None
    at: datetime
    operation: str
    summary: Mapping[str, str]
    schema: int | None = None  # id of the schema it was written with
    sequence: int = 0  # larger in later commits to the table
    manifest_list: str = field(default="", compare=False)  # its address; empty if it has none

    @property
    def run_id(self) -> str | None:
        return self.summary.get(RUN_ID)

    def count(self, key: str) -> int | None:
        """A number of the summary, such as `total-records`; None if the writer gave none."""
        value = self.summary.get(key)
        return int(value) if value is not None and value.isdigit() else None

    @property
    def rows(self) -> int | None:
        """How many rows it has, without those that delete files mark; None if the summary does not
        tell.

        Marks of rows whose files were rewritten since are counted too, until they are removed.
        """
        records = self.count("total-records")
        if records is None or self.count("total-equality-deletes"):
            return None
        return max(records - (self.count("total-position-deletes") or 0), 0)

    @property
    def deleted(self) -> int:
        """How many rows its commit deleted: those of removed files, and those that it marked."""
        return (self.count("deleted-records") or 0) + (self.count("added-position-deletes") or 0)

    @property
    def changes_rows(self) -> bool:
        """Whether its commit added, removed or marked any row."""
        return any(self.count(key) for key in _OF_ROWS)


@dataclass(frozen=True)
class SnapshotRef:
    """A branch or a tag."""

    name: str
    snapshot: int
    kind: Literal["branch", "tag"]


@dataclass(frozen=True)
class Pointer:
    """Where a table's present metadata file is."""

    table: TableName
    location: str


@dataclass(frozen=True)
class ForeignTable:
    """A table or view whose name is not in our three parts; its files are never ours to remove."""

    kind: Literal["table", "view"]
    table: str  # its name, for messages
    location: str  # of its metadata file
    name: ForeignName | None = (
        None  # by which it can be read; None if another catalog in the same database has it
    )


@dataclass(frozen=True)
class ViewMetadata:
    """A view's definition in the catalog."""

    sql: str
    dialect: str  # of its SQL, such as `spark`
    columns: tuple[Column, ...]
    namespace: tuple[str, ...]  # of table names without one
    catalog: str  # of table names without one; empty: the view's own
    location: str
    updated_at: datetime
    properties: Mapping[str, str]


@dataclass(frozen=True)
class TableMetadata:
    """The parts of a table's metadata file that Lakebed uses."""

    uuid: str
    location: str
    format_version: int
    updated_at: datetime
    columns: tuple[Column, ...]
    partition_by: tuple[str, ...]
    sort_by: tuple[str, ...]
    properties: Mapping[str, str]
    snapshots: Mapping[int, Snapshot]
    refs: Mapping[str, SnapshotRef]
    schema: int = 0  # id of the present schema
    spec: int = 0  # id of the present partition spec
    # the fields of every partition spec, by its id
    specs: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    schemas: Mapping[int, tuple[Column, ...]] = field(default_factory=dict)
    snapshot_log: tuple[
        tuple[datetime, int], ...
    ] = ()  # when `main` moved to which snapshot, oldest first
    metadata_log: tuple[str, ...] = ()  # earlier metadata files that are still listed, oldest first
    statistics: tuple[str, ...] = ()  # locations of statistics files

    @property
    def keeps_files(self) -> bool:
        """Whether Iceberg's property says that the files are not this table's to remove.

        An adopted table has it for other tools. Lakebed knows which of its files are others'.
        """
        return self.properties.get("gc.enabled") == "false" and not self.adopted_from

    @property
    def adopted_from(self) -> str:
        """The folder whose files the table took over as they are; empty for any other table."""
        return self.properties.get(ADOPTED_FROM, "")

    def is_ahead(self, now: datetime) -> bool:
        """Whether a clock was ahead that wrote the metadata: later commits would seem earlier."""
        moves = (at for at, _ in self.snapshot_log)
        return max((self.updated_at, *moves)) > now + CLOCK_TOLERANCE

    def schema_at(self, snapshot: Snapshot) -> int:
        """The id of the schema that a snapshot was written with; the present one if unknown."""
        return (
            snapshot.schema
            if snapshot.schema is not None and snapshot.schema in self.schemas
            else self.schema
        )

    def columns_of(self, schema: int) -> tuple[Column, ...]:
        """The columns of a schema."""
        return self.schemas.get(schema, self.columns)

    def columns_at(self, snapshot: Snapshot) -> tuple[Column, ...]:
        """The columns that a snapshot was written with."""
        return self.columns_of(self.schema_at(snapshot))

    def aliases_at(self, snapshot: int | None) -> tuple[ColumnAlias, ...]:
        """A snapshot's columns under their present names, for engines that read it with its own;
        empty if they agree.

        Columns added since are left out: a run may have added them, and may still remove them.
        """
        found = self.snapshots.get(snapshot) if snapshot is not None else None
        former = {
            column.id: column.name for column in (self.columns_at(found) if found else self.columns)
        }
        shown = tuple(
            ColumnAlias(column.name, former[column.id])
            for column in self.columns
            if column.id in former
        )
        return () if [column.name for column in shown] == [*former.values()] else shown

    def head(self, ref: str = MAIN) -> Snapshot | None:
        """The snapshot that a branch or tag points at; None if there is none."""
        found = self.refs.get(ref)
        return self.snapshots.get(found.snapshot) if found else None

    def ancestry(self, snapshot: int | None) -> Iterator[Snapshot]:
        """The snapshot and its ancestors, newest first, as far back as they are kept."""
        while snapshot is not None and (found := self.snapshots.get(snapshot)):
            yield found
            snapshot = found.parent

    def descends(self, snapshot: int, from_: int) -> bool:
        """Whether `from_` is `snapshot` itself or one of its ancestors."""
        return any(step.id == from_ for step in self.ancestry(snapshot))
