"""What a run reads, pinned at its start: snapshots of tables, files of zones, and the target table
as it was.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Literal

from lakebed.batches.advice import MANY_FILES
from lakebed.batches.chunks import Kind
from lakebed.names import TableName, ZoneName
from lakebed.ports import (
    MAIN,
    ColumnAlias,
    ConsumedFile,
    FileInfo,
    InputPin,
    RunRecord,
    TableMetadata,
)
from lakebed.tables import Renames
from lakebed.templates import SqlValue

if TYPE_CHECKING:
    from lakebed.pipelines.planning.backfills.look import BackfillLook
    from lakebed.pipelines.planning.sources.look import SourceLook

# as zone.yaml says, or, in a zone that is older than the question, with a warning
ReplacedRule = Literal["append", "refuse", "append_and_warn"]
ZoneKey = tuple[ZoneName, str | None]  # a zone, and the pattern its files must match


def arrival_order(file: FileInfo) -> tuple[datetime, str]:
    """A sort key: files in the order in which they arrived."""
    return (file.modified, file.path)


@dataclass(frozen=True)
class ZonePin:
    """The files of a zone that a run reads, as they were at its start.

    `new` counts those that the table does not have yet.
    """

    files: tuple[FileInfo, ...] = ()
    new: int = 0
    changing: tuple[str, ...] = ()  # still being written, so left to the next run
    known: Mapping[str, ConsumedFile] = field(
        default_factory=dict
    )  # path → the ledger's row, for files that the table already has
    gone: tuple[
        str, ...
    ] = ()  # files that the table has, but that are neither in the zone nor archived
    later: int = 0  # how many waiting files are left to further runs
    others: tuple[FileInfo, ...] = ()  # of these, the ones in this zone
    archived: int = 0  # how many files in `_processed/` are not read
    quarantined: int = 0  # how many files earlier runs have set aside
    unmatched: int = 0  # how many files do not match the pattern, if none does
    replaced: tuple[str, ...] = ()  # files of which the table has a former version
    replaced_rule: ReplacedRule = "append"  # what becomes of their rows under append_only
    columns: tuple[str, ...] = ()  # those of its files, where zone.yaml says them

    @property
    def is_empty(self) -> bool:
        return not self.files and not self.changing


@dataclass(frozen=True)
class Batch:
    """The files that one earlier run consumed, with that run's times; without a run: files that are
    still waiting.
    """

    files: Mapping[ZoneKey, tuple[FileInfo, ...]] = field(repr=False)
    run_id: str = ""
    at: datetime | None = None
    asked_at: datetime | None = None
    later: timedelta = timedelta(0)  # after the start of the run, where one run has several batches


@dataclass(frozen=True)
class SourceBatch:
    """One batch of a source: its files as they were listed, none if they are gone.

    More files than `at_once` are read in parts.
    """

    label: str
    where: str  # Spark SQL that is true for its rows
    files: Collection[FileInfo] = field(repr=False)
    digest: str = ""
    config: str = ""  # digest of the settings that decide its rows
    at_once: int = MANY_FILES

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def first(self) -> FileInfo:
        """The file that stands for all in messages."""
        return next(iter(self.files))

    @property
    def in_parts(self) -> bool:
        return len(self.files) > self.at_once

    def parts(self) -> Iterator[tuple[FileInfo, ...]]:
        """The files, as many as can be read at once."""
        rest = iter(self.files)
        while part := tuple(islice(rest, self.at_once)):
            yield part


@dataclass(frozen=True)
class Chunk:
    """One chunk of a backfill: the range that the pipeline computes and whose rows it replaces."""

    label: str
    where: str  # Spark SQL that is true for its rows
    start: SqlValue
    end: SqlValue  # exclusive
    kind: Kind
    config: str = ""  # digest of what was asked for
    digest: str = ""
    files: tuple[FileInfo, ...] = ()
    bytes: int = 0


@dataclass(frozen=True)
class Pins:
    """What a run reads, as of one moment."""

    run_id: str
    inputs: Mapping[TableName, InputPin]
    landing: Mapping[ZoneKey, ZonePin]
    full_refresh: bool = False
    ref: str = MAIN
    shown: Mapping[TableName, tuple[ColumnAlias, ...]] = field(
        default_factory=dict
    )  # tables whose snapshots have other column names
    batches: tuple[Batch, ...] = ()  # for rebuilding a table from its files, batch by batch
    columns: Mapping[TableName, tuple[str, ...]] = field(
        default_factory=dict
    )  # column names of inputs, where known
    given: str = ""  # digest of the variables and of the zones' settings
    source_batch: SourceBatch | None = None
    chunk: Chunk | None = None
    look: "SourceLook | BackfillLook | None" = None  # of a run that publishes batch by batch

    @property
    def replaced(self) -> SourceBatch | Chunk | None:
        """The batch that this publication replaces, one of several of its run."""
        return self.source_batch or self.chunk

    def of_batch(self, batch: SourceBatch | Chunk) -> "Pins":
        """The same for one batch of a source or a backfill."""
        if isinstance(batch, Chunk):
            return replace(self, chunk=batch)
        return replace(self, source_batch=batch)

    @property
    def branch(self) -> str:
        return f"run_{self.run_id}"


@dataclass(frozen=True)
class Undone:
    """What earlier runs of a pipeline have left undone. It is looked for where a run has nothing
    else to do; all other runs do these things anyway.
    """

    zones: tuple[ZoneName, ...] = ()  # with files that every reader has taken
    layouts: tuple[str, ...] = ()  # to be made, changed, dropped or built
    notes: tuple[str, ...] = ()  # what is only to be said


@dataclass(frozen=True)
class TargetTable:
    """The table that a run writes, as it was before; `metadata` is None if it does not
    exist yet.
    """

    table: TableName
    metadata: TableMetadata | None = None
    last: RunRecord | None = None  # the last successful run
    renames: Renames = ()  # renames of columns that this run will make

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
        """Whether the table still has the columns and rows that the last run left.

        Compaction does not count as a change.
        """
        if (
            self.metadata is None
            or self.last is None
            or self.last.left_schema != self.metadata.schema
        ):
            return False
        left = self.last.base if self.last.snapshot is None else self.last.snapshot
        for snapshot in self.metadata.ancestry(self.base(ref)):
            if snapshot.id == left or snapshot.operation != "replace":
                return snapshot.id == left
        return self.base(ref) is left is None
