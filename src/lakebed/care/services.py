"""What care works with."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from lakebed.care.observer import LakeObserver
from lakebed.derived.layouts import Layouts
from lakebed.errors import LakebedError
from lakebed.landing import ZoneSpec
from lakebed.names import TableName, ZoneName
from lakebed.ports import Files, LakePorts, Lease, SnapshotProtection
from lakebed.settings import TableCare
from lakebed.tables import HeldLease, hold_lease


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


class OtherRooms(Protocol):
    """What pipelines, zones, releases and layouts do for care."""

    @property
    def layouts(self) -> Layouts:
        """Those of the lake's tables."""
        ...

    def heal(self, table: TableName, lease: Lease) -> int:
        """Close a table's dead runs, and count them."""
        ...

    def own_care(self) -> Mapping[TableName, TableCare | LakebedError]:
        """What pipelines say of the care of their tables, or why it cannot be read."""
        ...

    def zones(self) -> tuple[ZoneRules, ...]:
        """The zones whose settings can be read."""
        ...

    def reap(self, now: datetime, *, dry_run: bool) -> Reaping:
        """Remove what no release or draft needs any more, or only look for it."""
        ...


@dataclass(frozen=True)
class CareServices:
    """The ports of a lake, and what care needs besides."""

    ports: LakePorts
    observer: LakeObserver
    rooms: OtherRooms
    logs: Mapping[str, Files]  # places of logs
    staging: Mapping[str, Files]  # places of payloads and scratch files
    held: Mapping[str, HeldLease] = field(default_factory=dict)  # by whoever asks for care

    @contextmanager
    def holding(self, name: str) -> Iterator[HeldLease]:
        """Hold the lease of this name inside the block; `LeaseHeld` if another process holds it."""
        if own := self.held.get(name):
            yield own
            return
        with hold_lease(
            self.ports.leases,
            name,
            holder=f"{self.ports.holder} (care)",
            limit=self.ports.settings.lease.limit_seconds,
        ) as held:
            yield held

    def kept(self) -> tuple[SnapshotProtection, ...]:
        """The snapshots that runs read or that are protected."""
        pinned = self.ports.records.pinned()
        runs = (
            SnapshotProtection("a run", table, snapshot)
            for table, snapshots in pinned.items()
            for snapshot in snapshots
        )
        return (*runs, *self.ports.events.protected())
