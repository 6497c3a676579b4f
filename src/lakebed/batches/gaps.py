"""Gaps: batches whose rows are no longer in the table, though their files are unchanged. Pure."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from lakebed.batches.state import OTHERS, BatchState, BatchStates
from lakebed.names import short_id
from lakebed.ports import Snapshot, TableMetadata

# The batches that a snapshot has rows of; None if its files do not tell.
LabelsAt = Callable[[int], frozenset[str] | None]
# The run that published a snapshot; empty if another program committed it.
Publisher = Callable[[int], str]
_SHOWN = 20


@dataclass(frozen=True)
class Gap:
    """A batch without rows. `removed_by` is the run id of the manual change that removed them, or
    `OTHERS`.
    """

    label: str
    rows: int  # that it had
    removed_by: str = OTHERS

    @property
    def is_meant(self) -> bool:
        """Whether its rows were removed through Lakebed: then they stay away."""
        return self.removed_by != OTHERS


def find_gaps(
    states: BatchStates,
    metadata: TableMetadata,
    at: int,
    *,
    labels_at: LabelsAt,
    publisher: Publisher,
) -> tuple[Gap, ...]:
    """The batches that a snapshot has no rows of, though they were written with some.

    No file is looked at unless something tells of other writers, or rows are too few.
    """
    snapshot = metadata.snapshots.get(at)
    if snapshot is None or not _may_lack_rows(states, snapshot):
        return ()
    present = labels_at(at)
    if present is None:
        return ()
    return tuple(
        Gap(label, state.rows, _removed_by(state, states, metadata, labels_at, publisher))
        for label, state in states.batches.items()
        if state.rows and label not in present
    )


def _may_lack_rows(states: BatchStates, snapshot: Snapshot) -> bool:
    written = sum(state.rows or 0 for state in states.batches.values())
    return (
        bool(states.foreign)
        or any(state.removed_by for state in states.batches.values())
        or snapshot.rows is None
        or snapshot.rows < written
    )


def _removed_by(
    state: BatchState,
    states: BatchStates,
    metadata: TableMetadata,
    labels_at: LabelsAt,
    publisher: Publisher,
) -> str:
    """Who removed the rows of a batch: the last commit before which the table had some. If that has
    expired, the checkpoint tells.
    """
    for id_ in states.foreign:  # newest first
        before = metadata.snapshots[id_].parent
        if before is None or before not in metadata.snapshots:
            break
        labels = labels_at(before)
        if labels is None:
            break
        if state.label in labels:
            return publisher(id_) or OTHERS
    return state.removed_by or OTHERS


def gap_warnings(gaps: Sequence[Gap], due: Collection[str]) -> Iterator[str]:
    """What to say about batches that others have removed and that are not about to be written."""
    missing = [gap for gap in gaps if not gap.is_meant and gap.label not in due]
    for gap in missing[:_SHOWN]:
        yield (
            f"batch {gap.label or 'all'} is missing: another program removed its {gap.rows:,} rows."
            " --repair-gaps writes it again"
        )
    if len(missing) > _SHOWN:
        yield f"and {len(missing) - _SHOWN:,} more batches are missing"


def deletion_notes(gaps: Sequence[Gap], due: Collection[str]) -> Iterator[str]:
    """What to say about batches that were deleted through Lakebed."""
    deleted = [gap for gap in gaps if gap.is_meant and gap.label not in due]
    for gap in deleted[:_SHOWN]:
        yield (
            f"batch {gap.label or 'all'} was deleted by the manual change"
            f" {short_id(gap.removed_by)}, and stays so until its files change; --force writes it"
            " again"
        )
    if len(deleted) > _SHOWN:
        yield f"and {len(deleted) - _SHOWN:,} more batches were deleted"
