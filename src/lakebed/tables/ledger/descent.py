"""Which runs a snapshot contains, even where snapshots it descends from have expired. Pure."""

from collections.abc import Collection, Iterable

from lakebed.names import run_of_branch
from lakebed.ports import ConsumedFile, Descent, TableMetadata


class Descents:
    """The snapshots of a table that are kept, and the expired ones whose descent was recorded."""

    def __init__(self, metadata: TableMetadata, recorded: Iterable[Descent]) -> None:
        self._metadata = metadata
        self._parents = {one.id: one.parent for one in metadata.snapshots.values()}
        self._runs = {one.id: one.run_id or "" for one in metadata.snapshots.values()}
        for descent in recorded:
            # What was recorded counts: expiry makes a kept snapshot lose its expired parent.
            self._parents[descent.snapshot] = descent.parent
            self._runs[descent.snapshot] = descent.run_id
        self._of_runs: dict[str, frozenset[int]] = {}
        for snapshot, run_id in self._runs.items():
            self._of_runs[run_id] = self._of_runs.get(run_id, frozenset()) | {snapshot}

    def line(self, snapshot: int | None) -> tuple[int, ...]:
        """The snapshot and its ancestors, newest first; of the last, only its id may be known."""
        line: list[int] = []
        while snapshot is not None:
            line.append(snapshot)
            snapshot = self._parents.get(snapshot)
        return tuple(line)

    def runs(self, line: Iterable[int]) -> frozenset[str]:
        """The runs that wrote these snapshots."""
        return frozenset(self._runs.get(snapshot, "") for snapshot in line) - {""}

    def places(self, file: ConsumedFile) -> frozenset[int]:
        """The snapshots with which the rows of a file came into the table; none if they are not
        known.
        """
        if file.snapshot in self._parents:
            return frozenset([file.snapshot])
        return self._of_runs.get(file.run_id, frozenset())

    def sequence(self, snapshot: int) -> int | None:
        """A snapshot's number in the order of commits, if it is kept."""
        kept = self._metadata.snapshots.get(snapshot)
        return kept.sequence if kept else None

    def published(self) -> frozenset[int]:
        """The snapshots of all refs but the branches of runs, which were not published."""
        refs = [ref for ref in self._metadata.refs.values() if run_of_branch(ref.name) is None]
        return frozenset(snapshot for ref in refs for snapshot in self.line(ref.snapshot))

    def of_expiring(self, ids: Collection[int]) -> tuple[Descent, ...]:
        """What is to be recorded before these snapshots expire: of them, and of their children."""
        gone = set(ids)
        return tuple(
            Descent(
                uuid=self._metadata.uuid,
                snapshot=snapshot,
                parent=self._parents[snapshot],
                run_id=self._runs[snapshot],
            )
            for snapshot in sorted(self._metadata.snapshots)
            if snapshot in gone or self._parents[snapshot] in gone
        )
