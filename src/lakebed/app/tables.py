"""What can be done to a table besides running its pipeline: set back, tagged, cloned, renamed, dropped, compared."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from lakebed.errors import NameTaken, PointerMoved, UnknownName, UsageError
from lakebed.landing import bring_back_files
from lakebed.names import TableName, new_run_id, require_no_collision, require_ref_name
from lakebed.pipelines.planning.ledger import record_sightings
from lakebed.ports import (
    MAIN,
    Amendment,
    Catalog,
    ChangeRecords,
    Compute,
    DroppedTable,
    Event,
    Events,
    Pointer,
    RecordedEvent,
    Records,
    RemoveRef,
    SetRef,
    Snapshot,
    TableMetadata,
)
from lakebed.tables import (
    HeldLease,
    Rollback,
    TableDiff,
    TablePlacement,
    compare,
    find_point,
    plan_rollback,
    protect_snapshots,
    published_snapshots,
    retry_on,
)

_PAUSE = 0.2
_CLONING = 600.0  # seconds; it takes a moment


@dataclass(frozen=True)
class HistoryEntry:
    """One line of a table's history: a snapshot, or something else that happened to it."""

    at: datetime
    what: str
    snapshot: Snapshot | None = None
    event: RecordedEvent | None = None
    current: bool = False  # it is what readers of the ref see now
    undone: bool = False  # it is no part of that


class Tables:
    """The tables of one lake, to be changed as a whole."""

    def __init__(
        self,
        ground: TablePlacement,
        records: Records,
        events: Events,
        *,
        find: Callable[[str | TableName], TableName],
        hold: Callable[..., AbstractContextManager[HeldLease]],
        compute: Callable[[str], Compute],
    ) -> None:
        self._ground, self._records, self._events = ground, records, events
        self._find, self._lease, self._compute = find, hold, compute

    @property
    def _catalog(self) -> Catalog:
        return self._ground.catalog

    def _hold(self, table: TableName, *, wait: float = 0.0) -> AbstractContextManager[HeldLease]:
        """The lease under which a table is changed."""
        self._ground.require_relocated()
        return self._lease(table, wait=wait)

    def look_up(self, name: str | TableName) -> tuple[TableName, Pointer, TableMetadata]:
        """A table, where the catalog says it is, and what it is."""
        table = self._find(name)
        pointer = self._catalog.pointers([table])[table]
        return table, pointer, self._catalog.metadata([pointer])[table]

    def find_point(self, table: TableName, metadata: TableMetadata, at: str | int | None) -> Snapshot:
        """The state that somebody means; without a word, the present one."""
        if at is None:
            head = metadata.head()
            if head is None:
                raise UsageError(f"{table} has no snapshot yet.", next="Run its pipeline first.")
            return head
        return find_point(table, metadata, str(at), timezone=self._ground.settings.timezone)

    @contextmanager
    def reading(
        self, name: str | TableName, *, at: str | int | None = None, seconds: float, reader: str = "reader"
    ) -> Iterator[Snapshot]:
        """A snapshot that care leaves alone while the block lasts; if this process dies, for `seconds` more."""
        table, _, metadata = self.look_up(name)
        point = self.find_point(table, metadata, at)
        with protect_snapshots(self._catalog, self._events, {table: [point.id]}, reader=reader, seconds=seconds):
            yield point

    # -- rollback

    def rollback(
        self, name: str | TableName, to: str | int, *, requeue_files: bool = False, hold_files: bool = False, wait: float = 0.0
    ) -> Rollback:
        """Make readers see an earlier state again, or a later one. Nothing is lost: the way back is another rollback."""
        if requeue_files and hold_files:
            raise UsageError("files are either read again or held, not both.", next="Choose --requeue or --hold.")
        table = self._find(name)
        with self._hold(table, wait=wait) as held:
            return retry_on(lambda: self._rollback(table, to, requeue_files, hold_files, held), (PointerMoved,))

    def plan_rollback(self, name: str | TableName, to: str | int, *, requeue_files: bool, hold_files: bool) -> Rollback:
        """What a rollback would do."""
        table, _, metadata = self.look_up(name)
        chosen: Literal["requeue", "hold"] | None = "requeue" if requeue_files else "hold" if hold_files else None
        ref = metadata.refs.get(str(to))
        point = self.find_point(table, metadata, to)
        by_tag = ref is not None and ref.kind == "tag"
        return plan_rollback(table, metadata, point, self._records.ledger(table), files=chosen, by_tag=by_tag)

    def _rollback(self, table: TableName, to: str | int, requeue_files: bool, hold_files: bool, held: HeldLease) -> Rollback:
        pointer = self._catalog.pointers([table])[table]
        plan = self.plan_rollback(table, to, requeue_files=requeue_files, hold_files=hold_files)
        # First the files: while the ledger says that they are taken, nobody reads them a second time.
        record_sightings(bring_back_files(self._ground.files, plan.files), self._records)
        self._catalog.amend(table, plan.amendments, expected=pointer, leases=[held.require()], records=plan.records)
        return plan

    # -- refs and names

    def tag(self, name: str | TableName, tag: str, *, at: str | int | None = None, replace: bool = False) -> Snapshot:
        """Give a state a name that keeps it from expiry."""
        return self._set_ref(name, tag, "tag", at=at, replace=replace)

    def branch(self, name: str | TableName, branch: str, *, at: str | int | None = None) -> Snapshot:
        """A branch to work on; readers of `main` do not see it."""
        return self._set_ref(name, branch, "branch", at=at, replace=False)

    def _set_ref(self, name: str | TableName, ref: str, kind: Any, *, at: str | int | None, replace: bool) -> Snapshot:
        require_ref_name(ref)

        def attempt() -> Snapshot:
            table, pointer, metadata = self.look_up(name)
            point = self.find_point(table, metadata, at)
            present = metadata.refs.get(ref)
            if present and not (replace and present.kind == kind):
                raise NameTaken(f"{table} has a {present.kind} {ref} already, at snapshot {present.snapshot}.", where=str(table))
            event = Event("tagged" if kind == "tag" else "branched", table, point.id, {"ref": ref})
            self._amend(table, pointer, SetRef(ref, point.id, kind), event)
            return point

        return retry_on(attempt, (PointerMoved,))

    def remove_ref(self, name: str | TableName, ref: str) -> None:
        """A tag or branch goes; what only it kept may expire from now on."""

        def attempt() -> None:
            table, pointer, metadata = self.look_up(name)
            found = metadata.refs.get(ref)
            if found is None or ref == MAIN:
                raise UnknownName(f"tag or branch of {table} that can go", ref, set(metadata.refs) - {MAIN})
            kind: Any = "untagged" if found.kind == "tag" else "branch_removed"
            self._amend(table, pointer, RemoveRef(ref), Event(kind, table, found.snapshot, {"ref": ref}))

        retry_on(attempt, (PointerMoved,))

    def _amend(self, table: TableName, pointer: Pointer, amendment: Amendment, event: Event) -> None:
        self._ground.require_relocated()
        self._catalog.amend(table, [amendment], expected=pointer, records=ChangeRecords(events=(event,)))

    def clone(self, name: str | TableName, to: str | TableName, *, at: str | int | None = None) -> TableName:
        """A table of its own that begins with a state of another; no file is copied, and neither can hurt the other."""
        target, table = self._free(to), self._find(name)
        with self._hold(target), self.reading(table, at=at, seconds=_CLONING, reader="clone") as point:
            pointer = self._catalog.pointers([table])[table]
            records = ChangeRecords(events=(Event("cloned", target, point.id, {"of": str(table)}),))
            place = self._ground.new_location(target)
            self._named(target, lambda: self._catalog.clone(pointer, target, snapshot=point.id, location=place, records=records))
        return target

    def rename(self, name: str | TableName, to: str | TableName) -> TableName:
        """Give a table another name; its files stay, and so does its history."""
        target, table = self._free(to), self._find(name)
        events = (Event("renamed", table, detail={"to": str(target)}), Event("renamed", target, detail={"from": str(table)}))
        with self._hold(table) as held, self._hold(target) as other:
            leases = [held.require(), other.require()]
            self._named(target, lambda: self._catalog.rename(table, target, leases=leases, records=ChangeRecords(events=events)))
        return target

    def drop(self, name: str | TableName) -> DroppedTable:
        """Take a table out of sight; it can be restored until care purges it."""
        table = self._find(name)
        with self._hold(table) as held:
            records = ChangeRecords(events=(Event("dropped", table),))
            gone = retry_on(lambda: self._catalog.drop(table, leases=[held.require()], records=records), (PointerMoved,))
        if gone is None:
            raise UnknownName("table", str(name), ())
        return gone

    def drop_view(self, view: TableName) -> None:
        """Take a view out of the catalog; it has no rows, and its pipeline makes it again."""
        with self._hold(view):
            if not self._catalog.drop_view(view):
                raise UnknownName("view", str(view), map(str, self._catalog.views()))

    def dropped(self) -> tuple[DroppedTable, ...]:
        """Tables that can be restored, last dropped first."""
        return self._catalog.dropped()

    def restore(self, name: str, *, to: str | TableName | None = None) -> TableName:
        """Bring a dropped table back: the one dropped last under this name, or the one of this uuid."""
        known = self.dropped()
        gone = next((one for one in known if name in (one.uuid, str(one.table)) or str(one.table).endswith(f".{name}")), None)
        if gone is None:
            raise UnknownName("dropped table", name, [str(one.table) for one in known])
        target = self._free(to or gone.table)
        event = Event("restored", target, detail={"from": str(gone.table)})
        with self._hold(target):
            self._named(target, lambda: self._catalog.restore(gone, target, records=ChangeRecords(events=(event,))))
        return target

    def _free(self, name: str | TableName) -> TableName:
        """A whole name that no table has, nor one that differs in case only."""
        table = name if isinstance(name, TableName) else TableName.parse(name)
        known = self._catalog.pointers()
        if table in known:
            raise NameTaken(f"there is a table {table} already.", next="Choose another name.")
        require_no_collision(table, known)
        self._ground.require_no_view(table)
        return table

    def _named(self, table: TableName, work: Callable[[], None]) -> None:
        try:
            work()
        except PointerMoved as error:
            raise NameTaken(f"somebody else made {table} just now, or took what it was to be.", where=str(table)) from error

    # -- looking

    def history(self, name: str | TableName, *, ref: str = MAIN) -> tuple[HistoryEntry, ...]:
        """Everything that happened to a table, newest first: snapshots, those that were undone too, and other changes."""
        table, _, metadata = self.look_up(name)
        if ref not in metadata.refs and ref != MAIN:
            raise UnknownName(f"ref of {table}", ref, metadata.refs)
        head = metadata.head(ref)
        kept = {step.id for step in metadata.ancestry(head.id if head else None)}
        seen = kept | published_snapshots(metadata) if ref == MAIN else kept
        snapshots = [
            HistoryEntry(one.at, one.operation, one, current=one == head, undone=one.id not in kept)
            for one in metadata.snapshots.values()
            if one.id in seen
        ]
        other = [
            HistoryEntry(noted.at, noted.event.kind, event=noted)
            for noted in self._events.since(table=table, limit=10_000)
            if ref == MAIN and noted.event.kind != "published"
        ]
        return tuple(sorted((*snapshots, *other), key=lambda change: change.at, reverse=True))

    def diff(
        self,
        name: str | TableName,
        before: str | int,
        after: str | int | None = None,
        *,
        keys: Sequence[str] = (),
        examples: int = 5,
    ) -> TableDiff:
        """What came, went and changed between two states."""
        table, _, metadata = self.look_up(name)
        old, new = self.find_point(table, metadata, before), self.find_point(table, metadata, after)
        compute = self._compute(new_run_id())
        try:
            return compare(compute, table, metadata, old, new, keys=keys, examples=examples)
        finally:
            compute.close()
