"""Which snapshots may expire. Pure."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from lakebed.ports import (
    SOURCE_UUID,
    EventKind,
    RecordedEvent,
    SnapshotProtection,
    TableMetadata,
)
from lakebed.settings import SAFE_DAYS, TableCare
from lakebed.tables import superseded

# events after which a snapshot may expire
LETTING_GO: tuple[EventKind, ...] = ("untagged", "branch_removed", "rolled_back")


def let_go(noted: Iterable[RecordedEvent]) -> dict[int, datetime]:
    """When refs stopped pointing at snapshots, by events; of all tables, since a table may have
    been renamed.
    """
    times: dict[int, datetime] = {}
    for one in noted:
        for snapshot in (one.event.snapshot, _number(one.event.detail.get("from"))):
            if snapshot is not None:
                times[snapshot] = max(times.get(snapshot, one.at), one.at)
    return times


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


def needed(metadata: TableMetadata, *, least: int) -> set[int]:
    """What never expires: snapshots that refs point at, the newest of `main`, those of a branch
    that `main` does not have, and in a derived table those since its newest tag.

    Without those of a branch, it would no longer descend from `main` and could not be published.
    Those of a derived table say how fresh it is.
    """
    head = metadata.head()
    main = [snapshot.id for snapshot in metadata.ancestry(head.id if head else None)]
    stays = {ref.snapshot for ref in metadata.refs.values()} | set(main[:least])
    on_main = set(main)
    for ref in metadata.refs.values():
        for snapshot in metadata.ancestry(ref.snapshot) if ref.kind == "branch" else ():
            if snapshot.id in on_main:
                break
            stays.add(snapshot.id)
    return stays | set(_since_checkpoint(metadata, main))


def _since_checkpoint(metadata: TableMetadata, main: list[int]) -> list[int]:
    tagged = {ref.snapshot for ref in metadata.refs.values() if ref.kind == "tag"}
    if SOURCE_UUID not in metadata.properties or tagged.isdisjoint(main):
        return []
    return main[: next(at for at, snapshot in enumerate(main) if snapshot in tagged)]


def expirable(
    metadata: TableMetadata,
    rules: TableCare,
    *,
    kept: Iterable[SnapshotProtection],
    released: Mapping[int, datetime],
    now: datetime,
) -> tuple[int, ...]:
    """The snapshots that may expire now. `kept` are those that runs read or that are protected, of
    any table: another tool may have renamed this one.
    """
    if metadata.keeps_files:
        return ()
    limit = now - timedelta(days=max(rules.snapshot_max_age_days, SAFE_DAYS))
    stays = needed(metadata, least=rules.min_snapshots_to_keep) | {one.snapshot for one in kept}
    times = superseded(metadata, released)
    return tuple(sorted(id for id, at in times.items() if at < limit and id not in stays))
