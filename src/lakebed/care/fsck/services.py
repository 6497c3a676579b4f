"""What a check works with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from lakebed.care.fsck.spec import PipelineInventory, StoredContent
from lakebed.names import TableName
from lakebed.ports import Audit, Catalog, Events, FileInspector, Files, Leases, PointerRows, Records
from lakebed.settings import Root

Report = Callable[[str], None]


def quiet(_: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class FsckServices:
    """A lake, as a check sees it. `heal` closes a table's dead runs, under its lease."""

    root: Root
    files: Files
    catalog: Catalog
    leases: Leases
    records: Records
    events: Events
    audit: Audit
    inspection: FileInspector
    heal: Callable[[TableName], None]
    holder: str
    limit: float  # of leases, in seconds
    pointer_rows: PointerRows | None = None  # None: the catalog is a separate server
    pipelines: PipelineInventory = field(default_factory=PipelineInventory)
    stored: tuple[StoredContent, ...] = ()
    report: Report = quiet
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
