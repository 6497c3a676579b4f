"""What a rollback does: the commit, and what becomes of landing files that undone runs consumed.

Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lakebed.errors import UsageError
from lakebed.names import TableName, run_time
from lakebed.ports import (
    MAIN,
    Amendment,
    ChangeRecords,
    ConsumedFile,
    Event,
    FileState,
    FileStateChange,
    SetRef,
    SetSchema,
    Snapshot,
    TableMetadata,
)
from lakebed.tables.history.points import published_snapshots

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
    *,
    files: UndoneFiles | None,
    by_tag: bool = False,
) -> Rollback:
    """Move `main` to a snapshot, with that snapshot's columns; no snapshot is removed.

    If undone runs consumed files whose rows the snapshot does not have, `files` says what becomes
    of them. A snapshot that was never published is refused unless it has a tag: its gates have not
    passed.
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
    inside, leaving, freed = _divide_ledger(metadata, to, ledger)
    if leaving and files is None:
        raise _undecided_files_error(table, leaving)
    redone = [file for file in inside if file.state != "taken"]
    becomes: list[tuple[FileState, Sequence[ConsumedFile]]] = [
        ("taken", redone),
        ("waiting", freed),
    ]
    becomes.append(("held" if files == "exclude" else "waiting", leaving))
    base = head.id if head else None
    event = Event("rolled_back", table, to.id, {"from": str(base), "ref": MAIN})
    schema = (SetSchema(to.schema),) if to.schema is not None else ()
    return Rollback(
        table,
        to,
        base,
        (SetRef(MAIN, to.id), *schema),
        tuple(sorted(_runs_left_out(metadata, to))),
        tuple(sorted({file.run_id for file in redone})),
        tuple(file for file in leaving if file.state == "taken") if files == "requeue" else (),
        ChangeRecords(
            file_states=_state_changes(table, becomes), events=() if base == to.id else (event,)
        ),
    )


def _divide_ledger(
    metadata: TableMetadata, to: Snapshot, ledger: Iterable[ConsumedFile]
) -> tuple[list[ConsumedFile], list[ConsumedFile], list[ConsumedFile]]:
    """The ledger's rows in three parts: of runs that the snapshot contains; of undone runs whose
    files leave with them; and of undone runs whose files the snapshot has through another run.
    """
    kept = {one.run_id for one in metadata.ancestry(to.id)}
    known = {one.run_id for one in metadata.snapshots.values()}
    inside: list[ConsumedFile] = []
    outside: list[ConsumedFile] = []
    for file in ledger:
        # If a run's snapshot has expired, only its time is known; runs of one table never overlap.
        is_inside = file.run_id in kept if file.run_id in known else run_time(file.run_id) <= to.at
        (inside if is_inside else outside).append(file)
    contained = {(file.path, file.etag) for file in inside}
    visible = {(file.path, file.etag) for file in outside if file.state == "taken"}
    leaving = [file for file in outside if (file.path, file.etag) in visible - contained]
    freed = [file for file in outside if (file.path, file.etag) in visible & contained]
    return inside, leaving, freed


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


def _runs_left_out(metadata: TableMetadata, to: Snapshot) -> set[str]:
    head = metadata.head()
    kept = {one.id for one in metadata.ancestry(to.id)}
    return {
        one.run_id
        for one in metadata.ancestry(head.id if head else None)
        if one.id not in kept and one.run_id
    }


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
