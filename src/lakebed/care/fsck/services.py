"""What a check works with."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from lakebed.care.fsck.spec import PipelineInventory, StoredContent
from lakebed.names import TableName
from lakebed.ports import Audit, FileInspector, LakePorts, PointerRows
from lakebed.tables import HeldLease, hold_lease


class Report(Protocol):
    """Is told how far a check is."""

    def __call__(self, line: str, /) -> None: ...


def quiet(_: str) -> None:
    """Report nothing."""


class HealTable(Protocol):
    """Closes a table's dead runs, under its lease."""

    def __call__(self, table: TableName) -> None: ...


@dataclass(frozen=True)
class FsckServices:
    """The ports of a lake, and what a check needs besides."""

    ports: LakePorts
    audit: Audit
    inspection: FileInspector
    pointer_rows: PointerRows | None  # None: the catalog is a separate server
    heal: HealTable
    pipelines: PipelineInventory
    stored: tuple[StoredContent, ...]
    report: Report = quiet

    def holding(self, name: str) -> AbstractContextManager[HeldLease]:
        """The lease of this name for the length of a block."""
        limit = self.ports.settings.lease.limit_seconds
        return hold_lease(self.ports.leases, name, holder=self.ports.holder, limit=limit)
