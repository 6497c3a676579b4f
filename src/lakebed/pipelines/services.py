"""The engines and stores that a run works with."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from lakebed.ports import Compute, Files, Leases, LocalSession, Records, Releases
from lakebed.settings import Root
from lakebed.tables import TablePlacement


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
    cancel: Callable[[], None] = lambda: None  # what active runs compute
    own_spark: bool = True  # the pinned one, set up by Lakebed: what functions it has is known
    # files outside of the lake, and their root: of a bucket (s3://name), or of this machine (/)
    elsewhere: Callable[[str], tuple[Files, Root]] | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def source_store(self, store: str) -> tuple[Files, Root]:
        """The files that a source is among, and what their paths are relative to."""
        if not store or self.elsewhere is None:
            return self.placement.files, self.placement.root
        return self.elsewhere(store)

    def local(self, at: datetime) -> datetime:
        """The same moment in the lake's time zone."""
        return at.astimezone(ZoneInfo(self.placement.settings.timezone))
