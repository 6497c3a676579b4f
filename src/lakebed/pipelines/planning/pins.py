"""What a run found when it began: the states and files it reads, its own table, and the record of the run before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lakebed.names import TableName, ZoneName
from lakebed.ports import MAIN, ColumnAlias, ConsumedFile, FileInfo, InputPin, RunRecord, TableMetadata
from lakebed.tables import Renames

ZoneKey = tuple[ZoneName, str | None]  # a zone, and the pattern of the files that are meant


def arrival_order(file: FileInfo) -> tuple[datetime, str]:
    """By this files are in the order in which they came."""
    return (file.modified, file.path)


@dataclass(frozen=True)
class ZonePin:
    """The files of a zone that a run reads, as they were at its start; `new` of them its table does not have yet."""

    files: tuple[FileInfo, ...] = ()
    new: int = 0
    changing: tuple[str, ...] = ()  # still being written: they wait for the next run
    known: Mapping[str, ConsumedFile] = field(default_factory=dict)  # of those that the table has: path → as it was taken
    gone: tuple[str, ...] = ()  # that the table has, and that are neither in the zone nor archived
    later: int = 0  # that wait too, and are left to further runs
    others: tuple[FileInfo, ...] = ()  # those of them that are in this zone
    archived: int = 0  # that lie in `_processed/` and are not read

    @property
    def is_empty(self) -> bool:
        return not self.files and not self.changing


@dataclass(frozen=True)
class Batch:
    """The files that one run took, when it began and when it was asked for; without a run they still wait, and come in now."""

    files: Mapping[ZoneKey, tuple[FileInfo, ...]] = field(repr=False)
    run_id: str = ""
    at: datetime | None = None
    asked_at: datetime | None = None
    later: timedelta = timedelta(0)  # than the run began: where one run brings in several batches


@dataclass(frozen=True)
class Pins:
    """What a run reads, decided in one moment."""

    run_id: str
    inputs: Mapping[TableName, InputPin]
    landing: Mapping[ZoneKey, ZonePin]
    full_refresh: bool = False
    ref: str = MAIN
    shown: Mapping[TableName, tuple[ColumnAlias, ...]] = field(default_factory=dict)  # tables whose snapshots have other columns
    batches: tuple[Batch, ...] = ()  # of a table that is made again from its files: these, one after the other
    columns: Mapping[TableName, tuple[str, ...]] = field(default_factory=dict)  # of inputs, where they are known
    given: str = ""  # digest of what it is given beside files and code: variables, and how its zones are to be read

    @property
    def branch(self) -> str:
        return f"run_{self.run_id}"


@dataclass(frozen=True)
class TargetTable:
    """The table as it is before the run; `metadata` is None while there is none."""

    table: TableName
    metadata: TableMetadata | None = None
    last: RunRecord | None = None  # of the last run that succeeded
    renames: Renames = ()  # of its columns, that the run will do

    @property
    def absent(self) -> bool:
        return self.metadata is None

    def base(self, ref: str) -> int | None:
        head = self.metadata.head(ref) if self.metadata else None
        return head.id if head else None

    def rows(self, ref: str) -> int:
        head = self.metadata.head(ref) if self.metadata else None
        if head is None:
            return 0
        return head.rows if head.rows is not None else head.count("total-records") or 0

    def is_as_left(self, ref: str) -> bool:
        """Whether the table is what the last run left: the same columns, and the same rows, however its files were rewritten."""
        if self.metadata is None or self.last is None or self.last.left_schema != self.metadata.schema:
            return False
        left = self.last.base if self.last.snapshot is None else self.last.snapshot
        for snapshot in self.metadata.ancestry(self.base(ref)):
            if snapshot.id == left or snapshot.operation != "replace":
                return snapshot.id == left
        return self.base(ref) is left is None
