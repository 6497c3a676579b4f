"""What a table is: columns, snapshots and refs, as the catalog's metadata says."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from lakebed.names import ForeignName, TableName

MAIN = "main"
_OF_ROWS = (
    "added-data-files", "deleted-data-files", "added-delete-files", "removed-delete-files", "added-records", "deleted-records",
)  # fmt: skip
OWN_COLUMNS = "lakebed.own-columns"  # the key under which it names, as JSON, the columns that the strategy added
RUN_ID = "lakebed.run-id"  # the key under which a snapshot's summary names the run that wrote it
NAME = "lakebed.table"  # the property that says what a table is called, where its folder does not: for a lost catalog
UNPUBLISHED = "lakebed.unpublished"  # the property of a first run's table, until readers may see it


@dataclass(frozen=True)
class Column:
    """One top-level column."""

    name: str
    type: str
    required: bool
    doc: str = ""
    id: int = field(default=0, compare=False)  # stays when the column is renamed
    default: object = field(default=None, compare=False)  # in rows that were written before it came, as metadata has it


@dataclass(frozen=True)
class ColumnAlias:
    """A column under the name that readers are to see; `of` is its name in what is read."""

    name: str
    of: str


@dataclass(frozen=True)
class Snapshot:
    """One committed state of a table."""

    id: int
    parent: int | None
    at: datetime
    operation: str
    summary: Mapping[str, str]
    schema: int | None = None  # the id of the one it was written with
    sequence: int = 0  # later commits to the table have larger ones

    @property
    def run_id(self) -> str | None:
        return self.summary.get(RUN_ID)

    def count(self, key: str) -> int | None:
        """A number of the summary, such as `total-records`; None where the writer gave none."""
        value = self.summary.get(key)
        return int(value) if value is not None and value.isdigit() else None

    @property
    def rows(self) -> int | None:
        """How many rows it has, without those that delete files mark; None where the summary does not tell.

        Marks of rows whose files were rewritten since count too, until somebody removes them.
        """
        records = self.count("total-records")
        if records is None or self.count("total-equality-deletes"):
            return None
        return max(records - (self.count("total-position-deletes") or 0), 0)

    @property
    def deleted(self) -> int:
        """How many rows its commit took away: those of removed files, and those that it marked."""
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


def id_text(snapshot: int | None) -> str | None:
    """A snapshot's id as JSON has it: text, since programs whose numbers are floats (JavaScript, jq) would round it."""
    return None if snapshot is None else str(snapshot)


@dataclass(frozen=True)
class Pointer:
    """Where the catalog says a table's present metadata is."""

    table: TableName
    location: str


@dataclass(frozen=True)
class ForeignTable:
    """A table or view of the catalog that has no name of ours, and whose files are not ours to remove."""

    kind: Literal["table", "view"]
    table: str  # what it is called, for messages
    location: str  # of its metadata file
    name: ForeignName | None = None  # by which it can be read; none if it is of another catalog in the same database


@dataclass(frozen=True)
class ViewMetadata:
    """What the catalog says of a view."""

    sql: str
    dialect: str  # whose SQL it is, such as `spark`
    columns: tuple[Column, ...]
    namespace: tuple[str, ...]  # where names without one are looked for
    catalog: str  # and the catalog for that; nothing for the view's own
    location: str
    updated_at: datetime
    properties: Mapping[str, str]


@dataclass(frozen=True)
class TableMetadata:
    """Everything the metadata file of a table says that Lakebed asks about."""

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
    schema: int = 0  # the id of the present one
    schemas: Mapping[int, tuple[Column, ...]] = field(default_factory=dict)
    snapshot_log: tuple[tuple[datetime, int], ...] = ()  # since when `main` stood at which snapshot, oldest first
    metadata_log: tuple[str, ...] = ()  # the metadata files before the present one that are still known, oldest first
    statistics: tuple[str, ...] = ()  # files of statistics about it

    @property
    def keeps_files(self) -> bool:
        """Iceberg's word for: the files are not this table's to remove."""
        return self.properties.get("gc.enabled") == "false"

    def schema_at(self, snapshot: Snapshot) -> int:
        """The id of the schema that a snapshot was written with; the present one where nobody knows."""
        return snapshot.schema if snapshot.schema is not None and snapshot.schema in self.schemas else self.schema

    def columns_of(self, schema: int) -> tuple[Column, ...]:
        """The columns of a schema."""
        return self.schemas.get(schema, self.columns)

    def columns_at(self, snapshot: Snapshot) -> tuple[Column, ...]:
        """The columns that a snapshot was written with."""
        return self.columns_of(self.schema_at(snapshot))

    def aliases_at(self, snapshot: int | None) -> tuple[ColumnAlias, ...]:
        """A snapshot's columns as they are called now, for engines that read it with its own names; none where these agree.

        Columns that came since are left out: a run may have added them, and may take them back.
        """
        found = self.snapshots.get(snapshot) if snapshot is not None else None
        former = {column.id: column.name for column in (self.columns_at(found) if found else self.columns)}
        shown = tuple(ColumnAlias(column.name, former[column.id]) for column in self.columns if column.id in former)
        return () if [column.name for column in shown] == [*former.values()] else shown

    def head(self, ref: str = MAIN) -> Snapshot | None:
        """The snapshot a branch or tag stands at; None while it has none."""
        found = self.refs.get(ref)
        return self.snapshots.get(found.snapshot) if found else None

    def ancestry(self, snapshot: int | None) -> Iterator[Snapshot]:
        """The snapshot and those before it, newest first, as far back as they are kept."""
        while snapshot is not None and (found := self.snapshots.get(snapshot)):
            yield found
            snapshot = found.parent

    def descends(self, snapshot: int, from_: int) -> bool:
        """Whether `from_` is `snapshot` itself or one before it."""
        return any(step.id == from_ for step in self.ancestry(snapshot))
