"""Which batches of a derived table are as their source is now: decided by comparing snapshots, so
that nobody needs to tell of a change. Pure.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from lakebed.batches.state import BatchState, BatchStates
from lakebed.derived.identity import Layout
from lakebed.derived.labels import FileLabels, PartitionValues
from lakebed.ports import TableMetadata

StaleReason = Literal["changed", "lost", "drift", "spec", "tainted"]

# What changed in the source after a snapshot, by the partition values of the files that were added
# or removed; None if that is not known.
ChangesSince = Callable[[int], Iterable[PartitionValues] | None]


@dataclass(frozen=True)
class Freshness:
    """The batches of a derived table.

    `fresh` have exactly the rows that the source has of them now; `stale` may not, and why.
    `covers`: every row of the source is in one of them, if all are fresh.
    """

    fresh: frozenset[str] = frozenset()
    stale: Mapping[str, StaleReason] = field(default_factory=dict)
    covers: bool = False

    @property
    def whole(self) -> bool:
        """Whether the derived table has exactly the rows of its source."""
        return self.covers and not self.stale

    @property
    def tainted(self) -> bool:
        """Whether somebody else has written into it, so that nothing about it is certain."""
        return "tainted" in self.stale.values()


def columns_digest(source: TableMetadata) -> str:
    """Of everything about the source's columns that decides what its rows are."""
    said = [
        [one.id, one.name, one.type, one.required, json.dumps(one.default, default=str)]
        for one in source.columns
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]


def source_digest(uuid: str, snapshot: int) -> str:
    """What a batch was made from: the value of `BatchState.digest` in derived tables."""
    return f"{uuid}@{snapshot}"


def source_snapshot(state: BatchState, uuid: str) -> int | None:
    """The source's snapshot that a batch was made from; None if it was made from another table."""
    made_from, _, snapshot = state.digest.partition("@")
    return int(snapshot) if made_from == uuid and snapshot.isdigit() else None


def compare_batches(
    layout: Layout, states: BatchStates, source: TableMetadata, changes: ChangesSince
) -> Freshness:
    """Which batches are fresh, for a source as of its present snapshot."""
    try:
        labels = FileLabels(source.columns, layout.spec.batch_columns)
    except KeyError:  # a batch column was renamed or dropped
        return _all_stale(states, "drift")
    schema, changed = columns_digest(source), _Changed(changes, labels)

    def reason(state: BatchState) -> StaleReason | None:
        snapshot = source_snapshot(state, source.uuid)
        if states.foreign:
            return "tainted"
        if state.config != layout.spec.digest:
            return "spec"
        if state.schema != schema:
            return "drift"
        touched = None if snapshot is None else changed.since(snapshot)
        if touched is None:
            return "lost"
        return "changed" if state.label in touched else None

    found = {label: reason(state) for label, state in states.batches.items()}
    if states.foreign and not found:
        found = {"": "tainted"}
    stale = {label: why for label, why in found.items() if why}
    covered = layout.covers
    unchanged = covered is not None and changed.nothing_since(covered)
    return Freshness(frozenset(found.keys() - stale.keys()), stale, unchanged)


def _all_stale(states: BatchStates, why: StaleReason) -> Freshness:
    reason: StaleReason = "tainted" if states.foreign else why
    return Freshness(stale=dict.fromkeys(states.batches or ("",), reason))


@dataclass(frozen=True)
class _EveryBatch:
    """A change that cannot be assigned to batches."""

    def __contains__(self, label: object) -> bool:
        return True


class _Changed:
    """The batches that changed since a snapshot; each snapshot is asked for once."""

    def __init__(self, changes: ChangesSince, labels: FileLabels) -> None:
        self._changes, self._labels = changes, labels
        self._known: dict[int, frozenset[str] | _EveryBatch | None] = {}

    def since(self, snapshot: int) -> frozenset[str] | _EveryBatch | None:
        """The labels of changed batches; None if it is not known what changed."""
        if snapshot not in self._known:
            self._known[snapshot] = self._look(snapshot)
        return self._known[snapshot]

    def nothing_since(self, snapshot: int) -> bool:
        return self.since(snapshot) == frozenset()

    def _look(self, snapshot: int) -> frozenset[str] | _EveryBatch | None:
        found = self._changes(snapshot)
        if found is None:
            return None
        labels = {self._labels.label(partition) for partition in found}
        if None in labels:
            return _EveryBatch()
        return frozenset(label for label in labels if label is not None)
