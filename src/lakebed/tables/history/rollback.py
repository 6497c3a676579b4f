"""Setting a table back, or forward again: decided here, with what becomes of the files that undone runs took. Pure."""

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
"""What becomes of landing files that undone runs consumed: the next run reads them again, or no run does."""


@dataclass(frozen=True)
class Rollback:
    """What setting a table back does: one commit, and the books in the same step."""

    table: TableName
    to: Snapshot
    base: int | None
    amendments: tuple[Amendment, ...]
    undone: tuple[str, ...]  # runs whose rows readers see no more
    redone: tuple[str, ...]  # runs whose rows they see again
    files: tuple[ConsumedFile, ...]  # that are to be read again
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
    """How `main` comes to stand at a snapshot, with that snapshot's columns; nothing is forgotten.

    Where undone runs took files whose rows the state does not have, `files` says whether these wait again or are held. A
    snapshot that never was published is refused, unless somebody tagged it: its gates have not passed.
    """
    head = metadata.head()
    if to.id not in published_snapshots(metadata) and not by_tag:
        raise UsageError(
            f"{table} is not known to have stood at snapshot {to.id}: it was not published, or what came after it has expired.",
            next="Choose one that was published: lakebed table history. If you are sure of it, tag it, and name the tag.",
        )
    inside, leaving, freed = _sort_out(metadata, to, ledger)
    if leaving and files is None:
        raise _must_be_said(table, leaving)
    redone = [file for file in inside if file.state != "taken"]
    becomes: list[tuple[FileState, Sequence[ConsumedFile]]] = [("taken", redone), ("waiting", freed)]
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
        ChangeRecords(file_states=_undoing(table, becomes), events=() if base == to.id else (event,)),
    )


def _sort_out(
    metadata: TableMetadata, to: Snapshot, ledger: Iterable[ConsumedFile]
) -> tuple[list[ConsumedFile], list[ConsumedFile], list[ConsumedFile]]:
    """What runs took: the rows of the ledger whose runs are inside the state, and of the others those whose files leave with
    them, and those whose files are in the state by another run.
    """
    kept = {one.run_id for one in metadata.ancestry(to.id)}
    known = {one.run_id for one in metadata.snapshots.values()}
    inside: list[ConsumedFile] = []
    outside: list[ConsumedFile] = []
    for file in ledger:
        # Of a run whose snapshot has expired only its time is known; runs of a table never overlap.
        is_inside = file.run_id in kept if file.run_id in known else run_time(file.run_id) <= to.at
        (inside if is_inside else outside).append(file)
    contained = {(file.path, file.etag) for file in inside}
    visible = {(file.path, file.etag) for file in outside if file.state == "taken"}
    leaving = [file for file in outside if (file.path, file.etag) in visible - contained]
    freed = [file for file in outside if (file.path, file.etag) in visible & contained]
    return inside, leaving, freed


def _undoing(table: TableName, becomes: Iterable[tuple[FileState, Sequence[ConsumedFile]]]) -> tuple[FileStateChange, ...]:
    """One for each state, of the rows that are not in it yet."""
    changed: dict[FileState, list[tuple[str, str]]] = {}
    for state, files in becomes:
        for file in files:
            if file.state != state:
                changed.setdefault(state, []).append((file.path, file.run_id))
    return tuple(FileStateChange(table, tuple(sorted(rows)), state) for state, rows in changed.items())


def _runs_left_out(metadata: TableMetadata, to: Snapshot) -> set[str]:
    head = metadata.head()
    kept = {one.id for one in metadata.ancestry(to.id)}
    return {one.run_id for one in metadata.ancestry(head.id if head else None) if one.id not in kept and one.run_id}


def _must_be_said(table: TableName, leaving: Sequence[ConsumedFile]) -> UsageError:
    zones = ", ".join(sorted({str(file.zone) for file in leaving}))
    taken = [file for file in leaving if file.state == "taken"]
    count, runs = len({(file.path, file.etag) for file in taken}), len({file.run_id for file in taken})
    return UsageError(
        f"{count} landing files of {zones} came into {table} by {runs} runs that would be undone.",
        next="Say what becomes of them: --requeue (they wait, and the next run reads them again) or --hold (they are set aside).",
    )
