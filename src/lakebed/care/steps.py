"""What care will do, as frozen steps. Each says what it is about, how much of it there is, and why it is due."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from lakebed.care.removal.removal import Removal
from lakebed.care.spec import Action
from lakebed.names import TableName
from lakebed.ports import DroppedTable


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing to be done, for a table or for the lake."""

    table: TableName | None = None
    why: str = ""

    @property
    def action(self) -> Action:
        raise NotImplementedError

    @property
    def subject(self) -> str:
        return str(self.table) if self.table else "lake"

    @property
    def counts(self) -> Mapping[str, int]:
        return {}

    @property
    def size(self) -> int:
        return 0


@dataclass(frozen=True, kw_only=True)
class CloseDeadRuns(Step):
    """Runs that say they are running, and whose table nobody holds."""

    action: ClassVar[Action] = "close_dead_runs"
    table: TableName
    runs: tuple[str, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        return {"runs": len(self.runs)}


@dataclass(frozen=True, kw_only=True)
class RemoveBranches(Step):
    """Branches of runs that ended some time ago, with the snapshots they stand at."""

    action: ClassVar[Action] = "remove_branches"
    table: TableName
    branches: Mapping[str, int]

    @property
    def counts(self) -> Mapping[str, int]:
        return {"branches": len(self.branches)}


@dataclass(frozen=True, kw_only=True)
class DropLeftovers(Step):
    """A hidden table of a run that ended; `table` is the one whose lease the run had."""

    action: ClassVar[Action] = "drop_leftovers"
    table: TableName
    hidden: TableName

    @property
    def counts(self) -> Mapping[str, int]:
        return {"hidden tables": 1}


@dataclass(frozen=True, kw_only=True)
class FinishRemoval(Step):
    """A removal of files that an earlier care began."""

    action: ClassVar[Action] = "finish_removal"
    table: TableName
    removal: Removal

    @property
    def counts(self) -> Mapping[str, int]:
        return {"files": len(self.removal.files)}

    @property
    def size(self) -> int:
        return sum(self.removal.files.values())


@dataclass(frozen=True, kw_only=True)
class ExpireSnapshots(Step):
    """Snapshots that were superseded long enough ago, and that nobody needs."""

    action: ClassVar[Action] = "expire_snapshots"
    table: TableName
    snapshots: tuple[int, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        return {"snapshots": len(self.snapshots)}


@dataclass(frozen=True, kw_only=True)
class CompactFiles(Step):
    """Small data files, to be written anew as fewer large ones; in the table's order if it has one."""

    action: ClassVar[Action] = "compact_files"
    table: TableName
    files: int
    bytes: int
    target: int
    sort: bool = False

    @property
    def counts(self) -> Mapping[str, int]:
        return {"small files": self.files}

    @property
    def size(self) -> int:
        return self.bytes


@dataclass(frozen=True, kw_only=True)
class RewriteManifests(Step):
    """Many small manifests, to be written anew as few."""

    action: ClassVar[Action] = "rewrite_manifests"
    table: TableName
    manifests: int

    @property
    def counts(self) -> Mapping[str, int]:
        return {"manifests": self.manifests}


@dataclass(frozen=True, kw_only=True)
class PurgeDropped(Step):
    """A dropped table that can be restored no more."""

    action: ClassVar[Action] = "purge_dropped"
    table: TableName
    dropped: DroppedTable

    @property
    def counts(self) -> Mapping[str, int]:
        return {"tables": 1}


@dataclass(frozen=True, kw_only=True)
class Refuse(Step):
    """An action that is not done for any table: it is not known what some of them need."""

    refused: Action

    @property
    def action(self) -> Action:
        return self.refused


@dataclass(frozen=True, kw_only=True)
class LeaveAlone(Step):
    """A table whose own word about its care cannot be read."""

    action: ClassVar[Action] = "expire_snapshots"
    table: TableName
