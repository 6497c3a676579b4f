"""What a rollback does: the commit, and what becomes of landing files that undone runs consumed.

Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lakebed.errors import UsageError
from lakebed.names import TableName
from lakebed.ports import (
    MAIN,
    Amendment,
    ChangeRecords,
    ConsumedFile,
    Descent,
    Event,
    FileState,
    FileStateChange,
    SetRef,
    SetSchema,
    Snapshot,
    TableMetadata,
)
from lakebed.tables.history.points import published_snapshots
from lakebed.tables.ledger.descent import Descents

UndoneFiles = Literal["requeue", "exclude"]
"""What becomes of landing files that undone runs consumed: read again, or by no run."""


@dataclass(frozen=True)
class Rollback:
    """A rollback: one commit, and the records that go with it."""

    table: TableName
    to: Snapshot
    base: int | None
    amendments: tuple[Amendment, ...]
    undone: tuple[str, ...]  # runs whose rows readers no longer see
    redone: tuple[str, ...]  # runs whose rows readers see again
    files: tuple[ConsumedFile, ...]  # to be moved back into their zones
    records: ChangeRecords

    @property
    def changes_nothing(self) -> bool:
        return self.base == self.to.id


def plan_rollback(
    table: TableName,
    metadata: TableMetadata,
    to: Snapshot,
    ledger: Sequence[ConsumedFile],
    descents: Iterable[Descent] = (),
    *,
    files: UndoneFiles | None,
    by_tag: bool = False,
) -> Rollback:
    """Move `main` to a snapshot, with that snapshot's columns; no snapshot is removed.

    If undone runs consumed files whose rows the snapshot does not have, `files` says what becomes
    of them; `descents` are those of expired snapshots. A snapshot that was never published is
    refused unless it has a tag: its gates have not passed.
    """
    head = metadata.head()
    if to.id not in published_snapshots(metadata) and not by_tag:
        raise UsageError(
            f"snapshot {to.id} of {table} may never have been published: there is no record that"
            " readers saw it.",
            next=(
                "Choose a published one: lakebed table history. If you are sure, tag it and roll"
                " back to the tag."
            ),
        )
    base = head.id if head else None
    move = _Move(Descents(metadata, descents), base, to.id)
    parts = _divide_ledger(table, move, ledger)
    if parts.leaving and files is None:
        raise _undecided_files_error(table, parts.leaving)
    becomes: list[tuple[FileState, Sequence[ConsumedFile]]] = [
        ("taken", parts.redone),
        ("waiting", parts.freed),
    ]
    becomes.append(("held" if files == "exclude" else "waiting", parts.leaving))
    event = Event("rolled_back", table, to.id, {"from": str(base), "ref": MAIN})
    schema = (SetSchema(to.schema),) if to.schema is not None else ()
    return Rollback(
        table,
        to,
        base,
        (SetRef(MAIN, to.id), *schema),
        tuple(sorted(move.undone)),
        tuple(sorted({file.run_id for file in parts.redone})),
        parts.requeued if files == "requeue" else (),
        ChangeRecords(
            file_states=_state_changes(table, becomes), events=() if base == to.id else (event,)
        ),
    )


class _Move:
    """The move of `main` from one snapshot to another: what it undoes."""

    def __init__(self, descents: Descents, base: int | None, to: int) -> None:
        former = descents.line(base)
        line = descents.line(to)
        self._descents = descents
        self._former, self._line = frozenset(former), frozenset(line)
        self._oldest = descents.sequence(line[-1])
        # Both lines part at a snapshot that they share. If they share none, an ancestor expired
        # without a record, and what lies behind it is not known.
        self._is_exact = not former or not self._former.isdisjoint(self._line)
        self.undone = descents.runs(former) - descents.runs(line)

    def contains(self, file: ConsumedFile) -> bool:
        """Whether the target has the rows that a run took from a file.

        A run that is on neither line is older than where they part, or on another branch: its rows
        stay what they are, and the ledger says whether the table has them.
        """
        places = self._descents.places(file)
        if places.isdisjoint(self._line | self._former):
            return file.state == "taken"
        return not places.isdisjoint(self._line)

    def undoes(self, file: ConsumedFile) -> bool:
        """Whether the rows that a run took from a file leave the table."""
        return file.state == "taken" and not self.contains(file)

    def is_unknown(self, file: ConsumedFile) -> bool:
        """Whether nothing tells if the target has the rows of a file."""
        places = self._descents.places(file)
        if self._is_exact or not places.isdisjoint(self._line):
            return False
        return not places or not all(map(self._is_later, places))

    def _is_later(self, place: int) -> bool:
        """Whether a snapshot is younger than all that the target is known to descend from."""
        sequence = self._descents.sequence(place)
        return sequence is not None and self._oldest is not None and sequence > self._oldest


@dataclass(frozen=True)
class _LedgerParts:
    """Rows of the ledger that a rollback is about."""

    redone: tuple[ConsumedFile, ...]  # the target has their rows; they do not count as taken
    leaving: tuple[ConsumedFile, ...]  # of undone runs, and the target does not have their rows
    freed: tuple[ConsumedFile, ...]  # of undone runs, and the target has them through another run

    @property
    def requeued(self) -> tuple[ConsumedFile, ...]:
        return tuple(file for file in self.leaving if file.state == "taken")


def _divide_ledger(table: TableName, move: _Move, ledger: Sequence[ConsumedFile]) -> _LedgerParts:
    if unknown := [file for file in ledger if move.is_unknown(file)]:
        raise _unknown_files_error(table, unknown)
    inside = [file for file in ledger if move.contains(file)]
    outside = [file for file in ledger if not move.contains(file)]
    contained = {(file.path, file.etag) for file in inside}
    undone = {(file.path, file.etag) for file in outside if move.undoes(file)}
    # A file may have been taken by several runs: what is decided now holds for all of its rows.
    concerned = [file for file in outside if (file.path, file.etag) in undone]
    return _LedgerParts(
        redone=tuple(file for file in inside if file.state != "taken"),
        leaving=tuple(file for file in concerned if (file.path, file.etag) not in contained),
        freed=tuple(file for file in concerned if (file.path, file.etag) in contained),
    )


def _state_changes(
    table: TableName, becomes: Iterable[tuple[FileState, Sequence[ConsumedFile]]]
) -> tuple[FileStateChange, ...]:
    """One change for each state, with the rows that are not in it yet."""
    changed: dict[FileState, list[tuple[str, str]]] = {}
    for state, files in becomes:
        for file in files:
            if file.state != state:
                changed.setdefault(state, []).append((file.path, file.run_id))
    return tuple(
        FileStateChange(table, tuple(sorted(rows)), state) for state, rows in changed.items()
    )


def _undecided_files_error(table: TableName, leaving: Sequence[ConsumedFile]) -> UsageError:
    zones = ", ".join(sorted({str(file.zone) for file in leaving}))
    taken = [file for file in leaving if file.state == "taken"]
    count, runs = (
        len({(file.path, file.etag) for file in taken}),
        len({file.run_id for file in taken}),
    )
    return UsageError(
        f"{count} landing files of {zones} were consumed into {table} by {runs} runs that would be"
        " undone.",
        next=(
            "Choose what becomes of them: --requeue (the next run reads them again) or --hold (no"
            " run reads them)."
        ),
    )


def _unknown_files_error(table: TableName, unknown: Sequence[ConsumedFile]) -> UsageError:
    paths = sorted({file.path for file in unknown})
    return UsageError(
        f"nothing says whether {table} had the rows of {len(paths)} landing files at that point,"
        f" {paths[0]} among them: snapshots in between expired without a record of what they were"
        " made from.",
        next=(
            "Look at that point as a table of its own: lakebed table clone. Or choose a later one:"
            " lakebed table history"
        ),
    )
