"""What a table is: columns, snapshots and refs, as the catalog's metadata says."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lakebed.names import TableName

MAIN = "main"
RUN_ID = "lakebed.run-id"  # the key under which a snapshot's summary names the run that wrote it


@dataclass(frozen=True)
class Column:
    """One top-level column."""

    name: str
    type: str
    required: bool
    doc: str = ""


@dataclass(frozen=True)
class Snapshot:
    """One committed state of a table."""

    id: int
    parent: int | None
    at: datetime
    operation: str
    summary: Mapping[str, str]

    @property
    def run_id(self) -> str | None:
        return self.summary.get(RUN_ID)

    def count(self, key: str) -> int | None:
        """A number of the summary, such as `total-records`; None where the writer gave none."""
        value = self.summary.get(key)
        return int(value) if value is not None and value.isdigit() else None


@dataclass(frozen=True)
class SnapshotRef:
    """A branch or a tag."""

    name: str
    snapshot: int
    kind: Literal["branch", "tag"]


@dataclass(frozen=True)
class Pointer:
    """Where the catalog says a table's present metadata is."""

    table: TableName
    location: str


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
