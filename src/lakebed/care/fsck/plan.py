"""Comparing tables and state with each other. Pure: no I/O, frozen findings."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lakebed.care.fsck.spec import (
    Finding,
    Heal,
    PipelineInventory,
    Purge,
    Relist,
    Settle,
    Unpin,
)
from lakebed.derived.identity import KIND, listed_tables, unknown_kind
from lakebed.names import TableName, run_of_branch, run_of_hidden, short_id
from lakebed.ports import (
    SOURCE_UUID,
    PinRow,
    Publication,
    RunRecord,
    SnapshotProtection,
    TableMetadata,
    UnsettledChange,
)


@dataclass(frozen=True)
class FsckState:
    """The lake's rows, all read after its tables."""

    tables: Mapping[TableName, TableMetadata]  # those whose metadata can be read
    damaged: frozenset[TableName] = frozenset()  # the others
    dropped: frozenset[str] = frozenset()  # uuids of tables that can be restored
    views: frozenset[TableName] = frozenset()
    leased: frozenset[TableName] = frozenset()  # being worked on now
    running: tuple[RunRecord, ...] = ()
    pins: tuple[PinRow, ...] = ()
    holds: tuple[SnapshotProtection, ...] = ()
    ledger: Mapping[TableName, int] = field(default_factory=dict)
    unsettled: tuple[Publication, ...] = ()
    unsettled_changes: tuple[UnsettledChange, ...] = ()
    pipelines: PipelineInventory = field(default_factory=PipelineInventory)
    # hidden tables in whose folders other tables have files
    shared: frozenset[TableName] = frozenset()

    @property
    def known(self) -> frozenset[TableName]:
        return frozenset(self.tables) | self.damaged

    @property
    def protected(self) -> frozenset[TableName]:
        """Tables of which somebody needs a snapshot."""
        pinned = {pin.table for pin in self.pins if pin.running}
        return frozenset(pinned | {one.table for one in self.holds})

    @property
    def alive(self) -> frozenset[str]:
        """Ids of runs that may still be active."""
        return frozenset(record.run_id for record in self.running if record.table in self.leased)


def judge(state: FsckState) -> tuple[Finding, ...]:
    """All contradictions between rows and tables."""
    return (
        *_branches(state),
        *_dead_runs(state),
        *_hidden(state),
        *_derived(state),
        *_unknown(state),
        *_listings(state),
        *_unsettled(state),
        *_pins(state),
        *_ledger(state),
        *_pipelines(state),
    )


def _branches(state: FsckState) -> Iterator[Finding]:
    for table, metadata in state.tables.items():
        if table in state.leased or table.temporary:
            continue  # the holder of the lease may have just created it
        for name in sorted(metadata.refs):
            if found := run_of_branch(name):
                what = (
                    f"the branch {name} belongs to the run {short_id(found)}, which has ended"
                    " without being published"
                )
                yield Finding("stale branch", "warning", str(table), what, Heal(table))


def _dead_runs(state: FsckState) -> Iterator[Finding]:
    for record in state.running:
        if record.table not in state.leased:
            what = (
                f"the run {short_id(record.run_id)} is recorded as running, but nobody holds its"
                " lease"
            )
            yield Finding("dead run", "warning", str(record.table), what, Heal(record.table))


def _hidden(state: FsckState) -> Iterator[Finding]:
    named = {move.table for publication in state.unsettled for move in publication.moves}
    for table in sorted(state.known):
        found = run_of_hidden(table.name)
        if found is None or found in state.alive or table in named:
            continue
        what = f"a hidden table of the run {short_id(found)}, which has ended"
        if table in state.shared | state.damaged:
            what = f"{what}; other tables use its folder"
        elif table in state.protected:
            what = f"{what}; a snapshot of it is protected"
        else:
            yield Finding("left-over table", "warning", str(table), what, Purge(table))
            continue
        yield Finding("left-over table", "warning", str(table), what)


def _derived(state: FsckState) -> Iterator[Finding]:
    """A source may be renamed, or be dropped and restored: only one that is gone for good leaves
    its derived tables behind.
    """
    if state.damaged:
        return  # one of them may be the source
    present = {metadata.uuid for metadata in state.tables.values()} | state.dropped
    for table in sorted(table for table in state.tables if table.derived):
        source = state.tables[table].properties.get(SOURCE_UUID)
        if source not in present:
            what = (
                f"the table that it was computed from (uuid {source}) no longer exists"
                if source
                else "its properties do not say which table it was computed from"
            )
            advice = f"If nobody needs it: lakebed table drop {table}"
            yield Finding("derived table without source", "warning", str(table), what, None, advice)


def _unknown(state: FsckState) -> Iterator[Finding]:
    """Derived tables that only a newer Lakebed can judge."""
    for table in sorted(table for table in state.tables if table.derived):
        if kind := unknown_kind(state.tables[table]):
            what = f"a newer Lakebed has derived it, as {kind}: this version leaves it alone"
            advice = "Upgrade Lakebed: pip install -U lakebed"
            yield Finding("unknown derived table", "warning", str(table), what, None, advice)


def _listings(state: FsckState) -> Iterator[Finding]:
    """What a table lists as derived from it, and what says so itself."""
    for table, metadata in state.tables.items():
        if table.hidden:
            continue
        listed = set(listed_tables(metadata))
        mine = {
            one
            for one, found in state.tables.items()
            if one.derived
            and KIND in found.properties
            and found.properties.get(SOURCE_UUID) == metadata.uuid
        }
        repair = Relist(table, tuple(sorted(mine)))
        for one in sorted(mine - listed):
            what = f"{table}, which it is derived from, does not list it: no query uses it"
            yield Finding("unlisted derived table", "warning", str(one), what, repair)
        for one in sorted(listed - mine - state.damaged):
            what = f"it lists {one} as derived from it, and there is no such table"
            if one not in state.tables:
                yield Finding("missing derived table", "warning", str(table), what, repair)


def _unsettled(state: FsckState) -> Iterator[Finding]:
    for publication in state.unsettled:
        what = f"the publication of run {short_id(publication.run_id)} was started but not finished"
        tables = ", ".join(str(move.published) for move in publication.moves)
        yield Finding("divided publication", "warning", tables, what, Settle())
    for change in state.unsettled_changes:
        what = f"{change.what} was started but not finished"
        yield Finding("divided change", "warning", str(change.table), what, Settle())


def _pins(state: FsckState) -> Iterator[Finding]:
    dead = sorted({pin.run_id for pin in state.pins if not pin.running})
    if dead:
        tables = ", ".join(sorted({str(pin.table) for pin in state.pins if not pin.running}))
        yield Finding(
            "dead pin",
            "warning",
            tables,
            f"{len(dead)} ended runs still pin snapshots",
            Unpin(tuple(dead)),
        )


def _ledger(state: FsckState) -> Iterator[Finding]:
    for table, files in sorted(state.ledger.items()):
        # a dropped table keeps its ledger, for when it is restored
        if table not in state.known and not table.hidden:
            what = f"{files:,} landing files were taken by a table that no longer exists"
            yield Finding("ledger of unknown table", "info", str(table), what)


def _pipelines(state: FsckState) -> Iterator[Finding]:
    visible = {table for table in state.known if not table.hidden}
    for table in sorted(visible - state.pipelines.tables):
        yield Finding(
            "table without pipeline",
            "warning",
            str(table),
            "no pipeline produces it: it was created manually, or its pipeline was deleted",
        )
    for table in sorted(state.pipelines.tables - visible - state.views):
        yield Finding(
            "pipeline without table",
            "info",
            str(table),
            "it has no table yet",
            advice=f"lakebed run {table}",
        )
    for folder, why in sorted(state.pipelines.bad.items()):
        yield Finding("bad pipeline", "warning", folder, why)


def each_once(findings: Iterable[Finding]) -> tuple["Finding", ...]:
    """Each finding once; the worst come first."""
    order = {"problem": 0, "warning": 1, "info": 2}
    return tuple(sorted(dict.fromkeys(findings), key=lambda found: order[found.severity]))
