"""What care works with."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime

from lakebed.care.observer import LakeObserver
from lakebed.derived.layouts import Layouts
from lakebed.errors import LakebedError
from lakebed.landing import ZoneSpec
from lakebed.names import TableName, ZoneName
from lakebed.ports import (
    CareLog,
    Catalog,
    Compute,
    Events,
    Files,
    Lease,
    Leases,
    ReachableFiles,
    Records,
    Scans,
    SnapshotProtection,
)
from lakebed.settings import Root, Settings, TableCare
from lakebed.tables import HeldLease, hold_lease
from lakebed.work import OnProgress


@dataclass(frozen=True)
class ZoneRules:
    """A zone, its `zone.yaml`, and the tables that read it."""

    zone: ZoneName
    spec: ZoneSpec
    readers: tuple[TableName, ...]


@dataclass(frozen=True)
class Reaping:
    """What was, or would be, removed from releases."""

    counts: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 0


def _nothing_to_reap(_: datetime, dry_run: bool) -> Reaping:
    del dry_run
    return Reaping()


@dataclass(frozen=True)
class CareServices:
    """The stores of a lake, and what pipelines and zones do for care."""

    root: Root
    settings: Settings
    files: Files
    catalog: Catalog
    leases: Leases
    records: Records
    events: Events
    reach: ReachableFiles
    observer: LakeObserver
    log: CareLog
    holder: str
    compute: Callable[[str], Compute]  # a session of its own
    heal: Callable[[TableName, Lease], int]  # closes a table's dead runs; how many
    # what pipelines say, or why it cannot be read
    own_care: Callable[[], Mapping[TableName, TableCare | LakebedError]] = dict
    zones: Callable[[], tuple[ZoneRules, ...]] = tuple
    reap: Callable[[datetime, bool], Reaping] = _nothing_to_reap  # now, and whether only to look
    logs: Mapping[str, Files] = field(default_factory=dict)  # places of logs
    # places of payloads and scratch files
    staging: Mapping[str, Files] = field(default_factory=dict)
    layouts: Callable[[], Layouts] | None = None
    scans: Callable[[], Scans] | None = None
    held: Mapping[str, HeldLease] = field(default_factory=dict)  # by whoever asks for care
    # how far Spark is
    watch: Callable[[OnProgress], AbstractContextManager[None]] = lambda _: nullcontext()

    @contextmanager
    def holding(self, name: str) -> Iterator[HeldLease]:
        """Hold the lease of this name inside the block; `LeaseHeld` if another process holds it."""
        if own := self.held.get(name):
            yield own
            return
        with hold_lease(
            self.leases,
            name,
            holder=f"{self.holder} (care)",
            limit=self.settings.lease.limit_seconds,
        ) as held:
            yield held

    def kept(self) -> tuple[SnapshotProtection, ...]:
        """The snapshots that runs read or that are protected."""
        pinned = self.records.pinned()
        runs = (
            SnapshotProtection("a run", table, snapshot)
            for table, snapshots in pinned.items()
            for snapshot in snapshots
        )
        return (*runs, *self.events.protected())
