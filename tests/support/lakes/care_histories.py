"""Made-up histories of a table, an hour a step: what care is judged by, and a plain reckoning
beside it.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from lakebed.ports import MAIN, Snapshot, SnapshotRef, TableMetadata

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@dataclass
class History:
    """A table whose every step is told: commits, branches, publishes, tags, rollbacks."""

    now: datetime = START
    snapshots: dict[int, Snapshot] = field(default_factory=dict)
    refs: dict[str, SnapshotRef] = field(default_factory=dict)
    log: list[tuple[datetime, int]] = field(default_factory=list)
    released: dict[int, datetime] = field(default_factory=dict)

    def pass_(self, hours: int = 1) -> None:
        self.now += hours * HOUR

    def commit(self, branch: str = MAIN) -> int:
        """A snapshot on top of a branch; a new branch begins at `main`."""
        self.pass_()
        base = self.refs.get(branch) or self.refs.get(MAIN)
        id = len(self.snapshots) + 1
        self.snapshots[id] = Snapshot(id, base.snapshot if base else None, self.now, "append", {})
        self._set(branch, id)
        return id

    def _set(self, branch: str, id: int) -> None:
        self.refs[branch] = SnapshotRef(branch, id, "branch")
        if branch == MAIN:
            self.log.append((self.now, id))

    def publish(self, branch: str) -> None:
        self.pass_()
        self._set(MAIN, self.refs.pop(branch).snapshot)

    def roll_back(self, id: int) -> None:
        self.pass_()
        self._set(MAIN, id)

    def tag(self, name: str, id: int) -> None:
        self.refs[name] = SnapshotRef(name, id, "tag")

    def let_go(self, name: str) -> None:
        """A tag or branch goes, and it is written down."""
        self.pass_()
        self.released[self.refs.pop(name).snapshot] = self.now

    @property
    def metadata(self) -> TableMetadata:
        return TableMetadata(
            "u",
            "file:///t",
            2,
            self.now,
            (),
            (),
            (),
            {},
            dict(self.snapshots),
            dict(self.refs),
            snapshot_log=tuple(self.log),
        )

    def is_ancestor(self, old: int, new: int | None) -> bool:
        while new is not None:
            if new == old:
                return True
            new = self.snapshots[new].parent
        return False

    def superseded(self, id: int) -> datetime:
        """The definition, word for word."""
        stood = [number for number, (_, head) in enumerate(self.log) if head == id]
        descending = [at for at, head in self.log if head != id and self.is_ancestor(id, head)]
        if stood and stood[-1] + 1 < len(self.log):
            since = self.log[stood[-1] + 1][0]
        elif not stood and descending:
            since = descending[0]
        else:
            since = self.snapshots[id].at
        main = self.refs[MAIN].snapshot if MAIN in self.refs else None
        gone = [at for head, at in self.released.items() if self._held_by(id, head, main)]
        return max([since, self.snapshots[id].at, *gone])

    def _held_by(self, id: int, head: int, main: int | None) -> bool:
        """Whether a ref at `head` was what kept the snapshot: it stood there, or only it
        led there.
        """
        return id == head or (self.is_ancestor(id, head) and not self.is_ancestor(id, main))
