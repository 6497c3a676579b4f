"""An export as a follower of its table: the exported snapshot stays until the next export."""

from collections.abc import Iterator
from contextlib import contextmanager

from lakebed.names import TableName
from lakebed.ports import Events


@contextmanager
def exported_snapshot(
    events: Events, follower: str, table: TableName, snapshot: int | None
) -> Iterator[None]:
    """Protect the snapshot while it is exported, and from then on instead of the one before.

    If the export fails, the one before stays protected.
    """
    before = {one.snapshot for one in events.protected() if one.holder == follower}
    acknowledged = events.follow(follower)
    if snapshot is not None:
        events.protect(follower, table, [snapshot], add=True)
    try:
        yield
    except BaseException:
        if snapshot is not None and snapshot not in before:
            events.unprotect(follower, snapshots=[snapshot])
        raise
    if done := before - {snapshot}:
        events.unprotect(follower, snapshots=done)
    while found := events.since(acknowledged):
        acknowledged = found[-1].number
        events.acknowledge(follower, acknowledged)
