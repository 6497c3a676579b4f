"""The outside of one lake, as all its rooms see it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from lakebed.ports.catalog.catalog import Catalog
from lakebed.ports.files.files import Files
from lakebed.ports.rows.compute import ComputeSessions
from lakebed.ports.rows.scans import Scans
from lakebed.ports.state.care_log import CareLog
from lakebed.ports.state.events import Events
from lakebed.ports.state.leases import Leases
from lakebed.ports.state.records import Records
from lakebed.ports.state.releases import Releases
from lakebed.ports.upkeep.reach import ReachableFiles
from lakebed.ports.upkeep.snapshot_writer import SnapshotWriter

if TYPE_CHECKING:  # values of ports alone, as on executors, must not load settings
    from lakebed.settings import Root, Settings


class LatePorts(Protocol):
    """Ports that few commands need; each is opened when it is first asked for."""

    @property
    def scans(self) -> Scans:
        """The files that queries read."""
        ...

    @property
    def reach(self) -> ReachableFiles:
        """The files that tables reach."""
        ...

    @property
    def snapshots(self) -> SnapshotWriter:
        """Snapshots made of files that exist."""
        ...


class Clock(Protocol):
    """This machine's time, in UTC."""

    def __call__(self) -> datetime: ...


class RequireOwner(Protocol):
    """Raises if another database owns the lake."""

    def __call__(self) -> None: ...


def utc_now() -> datetime:
    """This machine's time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class LakePorts:
    """Where a lake is, its settings, and its ports: what all rooms share. What only one room needs
    is in that room's own services.
    """

    root: "Root"
    settings: "Settings"
    files: Files
    catalog: Catalog
    leases: Leases
    records: Records
    events: Events
    releases: Releases
    care_log: CareLog
    late: LatePorts
    sessions: ComputeSessions
    holder: str  # of leases: names this process
    require_owner: RequireOwner
    now: Clock = utc_now

    @property
    def scans(self) -> Scans:
        """The files that queries read."""
        return self.late.scans

    @property
    def reach(self) -> ReachableFiles:
        """The files that tables reach."""
        return self.late.reach

    @property
    def snapshots(self) -> SnapshotWriter:
        """Snapshots made of files that exist."""
        return self.late.snapshots
