"""What care does to one table, and what it leaves undone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from lakebed.care.removal.removal import Removal
from lakebed.care.spec import Action
from lakebed.care.steps.base import BaseCareStep
from lakebed.names import TableName
from lakebed.ports import DroppedTable


@dataclass(frozen=True, kw_only=True)
class CloseDeadRuns(BaseCareStep):
    """Runs that are recorded as running, although nobody holds their table's lease."""

    action: ClassVar[Action] = "close_dead_runs"
    table: TableName
    runs: tuple[str, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        return {"runs": len(self.runs)}


@dataclass(frozen=True, kw_only=True)
class RemoveBranches(BaseCareStep):
    """Branches of runs that ended some time ago, and the snapshots they point at."""

    action: ClassVar[Action] = "remove_branches"
    table: TableName
    branches: Mapping[str, int]

    @property
    def counts(self) -> Mapping[str, int]:
        return {"branches": len(self.branches)}


@dataclass(frozen=True, kw_only=True)
class DropLeftovers(BaseCareStep):
    """A hidden table of a run that ended; `table` is the one whose lease the run held."""

    action: ClassVar[Action] = "drop_leftovers"
    table: TableName
    hidden: TableName

    @property
    def counts(self) -> Mapping[str, int]:
        return {"hidden tables": 1}


@dataclass(frozen=True, kw_only=True)
class FinishRemoval(BaseCareStep):
    """A removal of files that an earlier care did not complete."""

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
class ExpireSnapshots(BaseCareStep):
    """Snapshots that were superseded long enough ago and that nobody needs."""

    action: ClassVar[Action] = "expire_snapshots"
    table: TableName
    snapshots: tuple[int, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        return {"snapshots": len(self.snapshots)}


@dataclass(frozen=True, kw_only=True)
class RefreshLayouts(BaseCareStep):
    """Layouts of a table that are not as the table is, or do not say so yet."""

    action: ClassVar[Action] = "build_layouts"
    table: TableName
    layouts: tuple[str, ...]
    batches: int = 0

    @property
    def counts(self) -> Mapping[str, int]:
        return {"layouts": len(self.layouts), "stale batches": self.batches}


@dataclass(frozen=True, kw_only=True)
class CompactFiles(BaseCareStep):
    """Small data files, to be rewritten as fewer large ones, in the table's sort order if it has
    one.
    """

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
class RewriteManifests(BaseCareStep):
    """Many small manifests, to be rewritten as a few."""

    action: ClassVar[Action] = "rewrite_manifests"
    table: TableName
    manifests: int

    @property
    def counts(self) -> Mapping[str, int]:
        return {"manifests": self.manifests}


@dataclass(frozen=True, kw_only=True)
class PurgeDropped(BaseCareStep):
    """A dropped table whose time to be restored has passed."""

    action: ClassVar[Action] = "purge_dropped"
    table: TableName
    dropped: DroppedTable

    @property
    def counts(self) -> Mapping[str, int]:
        return {"tables": 1}


@dataclass(frozen=True, kw_only=True)
class Refuse(BaseCareStep):
    """An action refused for all tables, because it is unknown what some of them need."""

    refused: Action

    @property
    def action(self) -> Action:
        return self.refused


@dataclass(frozen=True, kw_only=True)
class LeaveAlone(BaseCareStep):
    """An action that is due for a table and has to wait; `why` says for what."""

    table: TableName
    waiting: Action

    @property
    def action(self) -> Action:
        return self.waiting
