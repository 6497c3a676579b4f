"""What a migration needs of a lake, besides what all operations on tables do."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from lakebed.names import TableName
from lakebed.ports import CareLog, ReachableFiles, SnapshotWriter
from lakebed.tables.migration.plan import DeclaredPartitions
from lakebed.work import OnProgress


@dataclass(frozen=True)
class MigrationServices:
    """Opened at the first migration."""

    reach: ReachableFiles
    snapshots: SnapshotWriter
    log: CareLog
    # how pipelines declare the partitioning of a table: the draft, and the release if it differs
    declared: Callable[[TableName], tuple[DeclaredPartitions, ...]]
    watch: Callable[[OnProgress], AbstractContextManager[None]]  # how far Spark is
