"""Setting a table back, or forward again: decided here, with what becomes of the files that undone runs took. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lakebed.errors import UsageError
from lakebed.names import TableName, run_time
from lakebed.ports import MAIN, Along, Amendment, ConsumedFile, Event, SetRef, SetSchema, Snapshot, TableMetadata, Undoing
from lakebed.tables.points import stood_at

Files = Literal["requeue", "hold"]


@dataclass(frozen=True)
class Rollback:
    """What setting a table back does: one commit, and the books in the same step."""

    table: TableName
    to: Snapshot
    base: int | None
    amendments: tuple[Amendment, ...]
    undone: tuple[str, ...]  # runs whose rows readers see no more
    redone: tuple[str, ...]  # runs whose rows they see again
    files: tuple[ConsumedFile, ...]  # that undone runs took
    along: Along

    @property
    def changes_nothing(self) -> bool:
        return self.base == self.to.id


def plan_rollback(
    table: TableName,
    metadata: TableMetadata,
    to: Snapshot,
    ledger: Sequence[ConsumedFile],
    *,
    files: Files | None,
    by_tag: bool = False,
) -> Rollback:
    """How `main` comes to stand at a snapshot, with that snapshot's columns; nothing is forgotten.

    Where undone runs took files, `files` says whether these wait again or are held. A snapshot that never was published is
    refused, unless somebody tagged it: its gates have not passed.
    """
    head = metadata.head()
    if to.id not in stood_at(metadata) and not by_tag:
        raise UsageError(
            f"{table} is not known to have stood at snapshot {to.id}: it was not published, or what came after it has expired.",
            next="Choose one that was published: lakebed table history. If you are sure of it, tag it, and name the tag.",
        )
    undone, redone = _sort_out(metadata, to, ledger)
    taken = tuple(file for file in ledger if file.run_id in undone)
    if taken and files is None:
        raise _must_be_said(table, taken, undone)
    undoing = [Undoing(table, tuple(sorted(undone)), "waiting" if files == "requeue" else "held")] if taken else []
    undoing += [Undoing(table, tuple(sorted(redone)), "taken")] if redone else []
    base = head.id if head else None
    event = Event("rolled_back", table, to.id, {"from": str(base), "ref": MAIN})
    schema = (SetSchema(to.schema),) if to.schema is not None else ()
    return Rollback(
        table,
        to,
        base,
        (SetRef(MAIN, to.id), *schema),
        tuple(sorted(_runs_left_out(metadata, to))),
        tuple(sorted(redone)),
        taken if files == "requeue" else (),
        Along(undoing=tuple(undoing), events=() if base == to.id else (event,)),
    )


def _sort_out(metadata: TableMetadata, to: Snapshot, ledger: Iterable[ConsumedFile]) -> tuple[set[str], set[str]]:
    """Runs that took files: those that are left out from then on, and those that come back."""
    kept = {one.run_id for one in metadata.ancestry(to.id)}
    known = {one.run_id for one in metadata.snapshots.values()}
    undone, redone = set(), set()
    for file in ledger:
        # Of a run whose snapshot has expired only its time is known; runs of a table never overlap.
        inside = file.run_id in kept if file.run_id in known else run_time(file.run_id) <= to.at
        if inside and file.state != "taken":
            redone.add(file.run_id)
        if not inside and file.state == "taken":
            undone.add(file.run_id)
    return undone, redone


def _runs_left_out(metadata: TableMetadata, to: Snapshot) -> set[str]:
    head = metadata.head()
    kept = {one.id for one in metadata.ancestry(to.id)}
    return {one.run_id for one in metadata.ancestry(head.id if head else None) if one.id not in kept and one.run_id}


def _must_be_said(table: TableName, taken: Sequence[ConsumedFile], runs: set[str]) -> UsageError:
    zones = ", ".join(sorted({str(file.zone) for file in taken}))
    return UsageError(
        f"{len(taken)} landing files of {zones} came into {table} by {len(runs)} runs that would be undone.",
        next="Say what becomes of them: --requeue (they wait, and the next run reads them again) or --hold (they are set aside).",
    )
