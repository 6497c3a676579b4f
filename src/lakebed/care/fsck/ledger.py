"""The ledger of landing files, restored from copies and decisions among the lake's files."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from lakebed.care.fsck.services import FsckServices
from lakebed.errors import DamagedTable
from lakebed.landing import files_still_there
from lakebed.names import TableName, run_of_branch
from lakebed.ports import (
    Catalog,
    ChangeRecords,
    ConsumedFile,
    Descent,
    Files,
    FileState,
    FileStateChange,
    PublicationRecords,
    TableMetadata,
)
from lakebed.tables import publish
from lakebed.tables.ledger.copies import copies, read_copy
from lakebed.tables.ledger.decisions import DecidedFiles, read_decisions
from lakebed.tables.ledger.descent import Descents

_AT_ONCE = 8
Copies = Mapping[str, Sequence[ConsumedFile]]  # by run


@dataclass(frozen=True)
class UnprovedFile:
    """A landing file that a run was about to take; nothing says whether the run was published."""

    path: str
    table: str
    run: str


@dataclass(frozen=True)
class LedgerReport:
    """How many files the ledger has again, and those of which nothing is certain: they are not in
    it.
    """

    files: int = 0
    unproved: tuple[UnprovedFile, ...] = ()


@dataclass(frozen=True)
class TableFiles:
    """A table, and what is known of its landing files."""

    table: TableName
    metadata: TableMetadata
    ledger: tuple[ConsumedFile, ...]
    descents: tuple[Descent, ...]
    decided: DecidedFiles


@dataclass(frozen=True)
class LedgerPlan:
    """What the ledger of a table lacks."""

    table: TableName
    rows: tuple[ConsumedFile, ...]
    records: ChangeRecords
    unproved: tuple[ConsumedFile, ...]


def restore_ledger(services: FsckServices, *, newer: Collection[TableName] = ()) -> LedgerReport:
    """Add to the ledger what it does not have of files that published runs took, with what became
    of them since. `newer` tables have commits that the ledger was not told of.
    """
    states = tuple(_table_states(services))
    tables = {state.table for state in states}
    stored = _read_copies(services.ports.files, known=_known_runs(services, states))
    plans = [
        plan_ledger(state, stored, tables=tables, newer=state.table in newer) for state in states
    ]
    for plan in plans:
        services.ports.catalog.amend(plan.table, [], records=plan.records)
    _add(services.ports.catalog, [row for plan in plans for row in plan.rows])
    unproved = [row for plan in plans for row in plan.unproved]
    there = _still_there(services.ports.files, unproved)
    return LedgerReport(
        files=sum(len(plan.rows) for plan in plans),
        unproved=tuple(UnprovedFile(row.path, str(row.table), row.run_id) for row in there),
    )


def plan_ledger(
    state: TableFiles, stored: Copies, *, tables: Collection[TableName], newer: bool
) -> LedgerPlan:
    """Compare a table's ledger with copies of runs that it does not have, and with decisions.

    Pure. A run was published if the table contains its snapshot, or if a decision says so. Where
    neither is the case it is certain of none but those whose branch is still there.
    """
    snapshots = Descents(state.metadata, (*state.descents, *state.decided.descents))
    contained = snapshots.runs(snapshots.published())
    decided = state.decided.published | {run_id for _, run_id in state.decided.states}
    waiting = {run_of_branch(name) for name in state.metadata.refs}
    rows: list[ConsumedFile] = []
    unproved: list[ConsumedFile] = []
    for run_id in sorted(stored):
        for row in stored[run_id]:
            # A table that is not there any more was renamed, or this is a clone of it.
            may_be_its_own = row.table == state.table or row.table not in tables
            if run_id in decided or (run_id in contained and may_be_its_own):
                became = state.decided.states.get((row.path, run_id), "taken")
                rows.append(replace(row, table=state.table, state=became))
            elif row.table == state.table and run_id not in waiting:
                unproved.append(row)
    certain = {(row.path, row.etag) for row in (*state.ledger, *rows)}
    return LedgerPlan(
        table=state.table,
        rows=tuple(rows),
        records=ChangeRecords(
            file_states=tuple(_changes(state, snapshots, newer=newer)),
            descents=state.decided.descents,
        ),
        unproved=tuple(row for row in unproved if (row.path, row.etag) not in certain),
    )


def _changes(state: TableFiles, snapshots: Descents, *, newer: bool) -> Iterator[FileStateChange]:
    head = state.metadata.head()
    main = frozenset(snapshots.line(head.id if head else None))
    published = snapshots.published()
    changed: dict[FileState, list[tuple[str, str]]] = {}
    for row in state.ledger:
        became = state.decided.states.get((row.path, row.run_id))
        if became is None and newer:
            became = _by_snapshots(row, snapshots.places(row), main=main, published=published)
        if became is not None and became != row.state:
            changed.setdefault(became, []).append((row.path, row.run_id))
    for became, files in changed.items():
        yield FileStateChange(state.table, tuple(files), became)


def _by_snapshots(
    row: ConsumedFile,
    places: frozenset[int],
    *,
    main: frozenset[int],
    published: frozenset[int],
) -> FileState | None:
    """What became of a file without a decision, as earlier versions and other tools roll back: of
    an undone run it is excluded, since reading it again could not be taken back.
    """
    if not places.isdisjoint(main):
        return "taken"
    is_undone = bool(places) and places.isdisjoint(published)
    return "held" if is_undone and row.state == "taken" else None


def _table_states(services: FsckServices) -> Iterator[TableFiles]:
    for table, pointer in services.ports.catalog.pointers().items():
        if table.derived:
            continue  # its rows are its source's, and so are the files they came from
        with suppress(DamagedTable):
            metadata = services.ports.catalog.metadata([pointer])[table]
            yield TableFiles(
                table=table,
                metadata=metadata,
                ledger=services.ports.records.ledger(table),
                descents=services.ports.records.descents(metadata.uuid),
                decided=read_decisions(services.ports.files, metadata),
            )


def _known_runs(services: FsckServices, states: Sequence[TableFiles]) -> set[str]:
    dropped = (gone.hidden_name for gone in services.ports.catalog.dropped())
    of_dropped = (row for name in dropped for row in services.ports.records.ledger(name))
    of_tables = (row for state in states for row in state.ledger)
    return {row.run_id for row in (*of_dropped, *of_tables)}


def _read_copies(files: Files, *, known: Collection[str]) -> Copies:
    runs = sorted(copies(files).keys() - set(known))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return dict(zip(runs, pool.map(partial(read_copy, files), runs), strict=True))


def _add(catalog: Catalog, rows: Sequence[ConsumedFile]) -> None:
    """In the order of the runs, which is that of their publication."""
    by_run: dict[str, list[ConsumedFile]] = {}
    for row in rows:
        by_run.setdefault(row.run_id, []).append(row)
    for run_id in sorted(by_run):
        records = PublicationRecords(consumed=tuple(by_run[run_id]))
        publish(catalog, [], run_id=run_id, records=records)


def _still_there(files: Files, rows: Sequence[ConsumedFile]) -> tuple[ConsumedFile, ...]:
    zones = sorted({row.zone for row in rows}, key=str)
    there = [file for zone in zones for file in files.list(zone.folder)]
    return files_still_there(rows, there)
