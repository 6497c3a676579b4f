"""The engines and stores that a run works with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from lakebed.derived.layouts import Layouts
from lakebed.names import TableName
from lakebed.ports import (
    CareEntry,
    Compute,
    Files,
    Leases,
    LocalSession,
    Records,
    Releases,
    Scans,
    SnapshotWriter,
)
from lakebed.settings import Root
from lakebed.tables import HeldLease, TablePlacement


@dataclass(frozen=True)
class RunServices:
    """The engines behind a run."""

    placement: TablePlacement
    leases: Leases
    records: Records
    compute: Callable[[str], Compute]  # a session of its own, by run id
    workbench: Callable[[], LocalSession]
    scratch: Callable[[str], Path]  # a run's own folder on this machine
    log: Callable[[str], Path]  # where a run's log is written
    holder: str
    releases: Releases
    snapshots: Callable[[], SnapshotWriter]
    cancel: Callable[[], None] = lambda: None  # what active runs compute
    own_spark: bool = True  # the pinned one, set up by Lakebed: what functions it has is known
    # files outside of the lake, and their root: of a bucket (s3://name), or of this machine (/)
    elsewhere: Callable[[str], tuple[Files, Root]] | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    layouts: Callable[[], Layouts] | None = None  # those of the lake's tables
    scans: Callable[[], Scans] | None = None
    # care that is due after many commits, by the holder of the table's lease
    care: Callable[[TableName, HeldLease], Sequence[CareEntry]] | None = None

    @property
    def builds_layouts(self) -> bool:
        """Whether whatever changes a table builds its layouts, too."""
        return self.placement.settings.layouts.build == "inline"

    def source_store(self, store: str) -> tuple[Files, Root]:
        """The files that a source is among, and what their paths are relative to."""
        if not store or self.elsewhere is None:
            return self.placement.files, self.placement.root
        return self.elsewhere(store)

    def lake_within(self, store: str) -> str | None:
        """Where the lake's root is among the files of a source; None if it is not among them."""
        root = self.placement.root
        if not store:
            return ""
        if store == "/":
            return None if root.is_bucket else str(root.folder).lstrip("/")
        return root.prefix if root.is_bucket and store == f"s3://{root.bucket}" else None

    def local(self, at: datetime) -> datetime:
        """The same moment in the lake's time zone."""
        return at.astimezone(ZoneInfo(self.placement.settings.timezone))
