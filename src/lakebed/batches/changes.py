"""Which batches are due: those whose files or settings differ from what the table was made from.
Pure.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lakebed.batches.finding import FoundBatch
from lakebed.batches.state import BatchState, BatchStates
from lakebed.sizes import format_size

Reason = Literal["new", "changed", "settings", "forced", "gap", "gone", "backfill"]


@dataclass(frozen=True)
class DueBatch:
    """A batch to be written. `found` is None if the source has no file of it any more: its rows
    are removed; and for a chunk of a backfill, which has no files.
    """

    label: str
    reason: Reason
    found: FoundBatch | None = None
    known: BatchState | None = None


@dataclass(frozen=True)
class BatchDecision:
    """The batches that are due, in order, and how many are as the table has them."""

    due: tuple[DueBatch, ...]
    unchanged: int = 0


@dataclass(frozen=True)
class BatchProgress:
    """How far a run is: what is done, of what was due."""

    batches: tuple[int, int]
    files: tuple[int, int]
    bytes: tuple[int, int]

    @property
    def share(self) -> float:
        """Between 0 and 1; by bytes, where there are any."""
        done, whole = self.bytes if self.bytes[1] else self.batches
        return done / whole if whole else 1.0

    def __str__(self) -> str:
        batches, files = (f"{done:,} of {whole:,}" for done, whole in (self.batches, self.files))
        if not self.files[1]:  # a backfill has none
            return f"{batches} batches"
        return f"{batches} batches, {files} files, {' of '.join(map(format_size, self.bytes))}"


def progress_of(due: Sequence[DueBatch], done: int) -> BatchProgress:
    """How far a run is that has done with so many of the batches."""
    files = [batch.found.files if batch.found else 0 for batch in due]
    sizes = [batch.found.bytes if batch.found else 0 for batch in due]
    return BatchProgress(
        (done, len(due)),
        (sum(files[:done]), sum(files)),
        (sum(sizes[:done]), sum(sizes)),
    )


def decide_batches(
    found: Iterable[FoundBatch],
    states: BatchStates,
    *,
    config: str,
    only: Collection[str] = (),
    force: bool = False,
    gaps: Collection[str] = (),
) -> BatchDecision:
    """What a run has to do. `only` are labels; without any, all batches are meant. `gaps` are those
    to be written again because the table has lost them.
    """
    due: list[DueBatch] = []
    unchanged, seen = 0, set[str]()
    for batch in found:
        seen.add(batch.label)
        if only and batch.label not in only:
            continue
        known = states.batches.get(batch.label)
        repair = batch.label in gaps
        if reason := _reason(batch, known, config=config, force=force, repair=repair):
            due.append(DueBatch(batch.label, reason, batch, known))
        else:
            unchanged += 1
    due += _gone(states.batches, seen, only)
    return BatchDecision(tuple(due), unchanged)


def _reason(
    batch: FoundBatch, known: BatchState | None, *, config: str, force: bool, repair: bool
) -> Reason | None:
    if known is None:
        return "new"
    if known.digest != batch.digest:
        return "changed"
    if known.config != config:
        return "settings"
    if force:
        return "forced"
    return "gap" if repair else None


def _gone(
    known: Mapping[str, BatchState], seen: Collection[str], only: Collection[str]
) -> list[DueBatch]:
    return [
        DueBatch(label, "gone", known=state)
        for label, state in known.items()
        if label not in seen and (not only or label in only)
    ]
