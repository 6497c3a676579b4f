"""`lake.tables`: the tables of a lake, to be found, described, compared and changed as a whole."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from lakebed.errors import UnknownName
from lakebed.names import TableName, new_run_id, require_ref_name
from lakebed.ports import (
    MAIN,
    ChangeRecords,
    Column,
    DroppedTable,
    Event,
    ForeignTable,
    Pointer,
    Snapshot,
    TableMetadata,
    ViewMetadata,
)
from lakebed.tables.history.compare import compare
from lakebed.tables.history.diff import TableDiff
from lakebed.tables.history.rollback import Rollback, UndoneFiles, plan_rollback
from lakebed.tables.history.rolling_back import roll_back
from lakebed.tables.history.timeline import HistoryEntry, table_history
from lakebed.tables.lookup.entries import (
    find_readable,
    foreign_matching,
    foreign_metadata,
    views_matching,
)
from lakebed.tables.lookup.names import tables_matching
from lakebed.tables.migration.verbs import TableMigrations
from lakebed.tables.operations.changing import changing
from lakebed.tables.operations.naming import (
    find_dropped,
    full_name,
    name_may_be_taken,
    require_free_name,
    shown_name,
)
from lakebed.tables.operations.refs import RefChange, RefKind, plan_ref, plan_ref_removal
from lakebed.tables.publishing.lease import HeldLease
from lakebed.tables.services import TableServices
from lakebed.work import retry

# seconds that a cloned snapshot stays protected if this process dies; cloning takes a moment
_CLONING = 600.0
_EVENTS = 10_000  # entries of a history


class Tables(TableMigrations):
    """The tables of one lake."""

    def __init__(self, services: TableServices) -> None:
        super().__init__(services)
        self._catalog = services.ports.catalog

    # -- finding and describing

    def list(self, pattern: str | None = None) -> dict[TableName, TableMetadata]:
        """The tables that match, all as of one moment; hidden ones only by their whole name."""
        pointers = self._catalog.pointers()
        return self._catalog.metadata(
            [pointers[table] for table in tables_matching(pattern, pointers)]
        )

    def find(self, name: str | TableName) -> TableName:
        """The lake's table with this name, or whose name ends with it; near names are suggested."""
        return self._services.find(name)

    def target(self, name: str | TableName) -> TableName:
        """The table to write to: by its full name, it need not exist; by the end of its name, it
        must.
        """
        is_full = isinstance(name, TableName) or name.count(".") == 2
        return shown_name(name if is_full else self.find(name))

    def look_up(self, name: str | TableName) -> tuple[TableName, Pointer, TableMetadata]:
        """A table of the lake with its pointer and the metadata that it points at."""
        return self._services.look_up(name)

    def find_readable(self, name: str) -> tuple[TableName, ViewMetadata | None]:
        """A table or view, the lake's own or foreign, by its name or the end of it; for a view, its
        metadata.
        """
        found = find_readable(name, self._catalog)
        table = found.name if isinstance(found, ForeignTable) else found
        assert table is not None  # noqa: S101 - an entry without a name is not found by one
        is_view = (
            found.kind == "view"
            if isinstance(found, ForeignTable)
            else table in self._catalog.views()
        )
        return table, self._catalog.view(table) if is_view else None

    def readable(self) -> Sequence[TableName]:
        """Everything that a query can name: tables and views, the lake's own and foreign ones."""
        foreign = [entry.name for entry in self._catalog.foreign() if entry.name]
        names = {*self._catalog.pointers(), *self._catalog.views(), *foreign}
        return [table for table in sorted(names, key=str) if not table.hidden]

    def describe(self, name: str | TableName) -> TableMetadata:
        """Columns, arrangement, refs and snapshots of a table, the lake's own or foreign; for views
        there is `views`.
        """
        found = find_readable(name, self._catalog) if isinstance(name, str) else name
        if isinstance(found, ForeignTable) and found.kind == "table" and found.name:
            return self._catalog.metadata([Pointer(found.name, found.location)])[found.name]
        return self._services.look_up(name)[2]

    def columns(self, name: str) -> tuple[Column, ...]:
        """The columns of a table or view, the lake's own or foreign."""
        _, view = self.find_readable(name)
        return view.columns if view else self.describe(name).columns

    def views(self, pattern: str | None = None) -> dict[TableName, ViewMetadata]:
        """The views that match: columns, SQL, and when each was created."""
        return views_matching(self._catalog, pattern)

    def foreign(self, pattern: str | None = None) -> dict[ForeignTable, TableMetadata | None]:
        """Tables and views that other tools created in the catalog; None for views, and for what
        cannot be read.
        """
        return {
            entry: foreign_metadata(self._catalog, entry)
            for entry in foreign_matching(self._catalog, pattern)
        }

    def history(self, name: str | TableName, *, ref: str = MAIN) -> tuple[HistoryEntry, ...]:
        """Everything that happened to a table, newest first: snapshots, undone ones included, and
        other events.
        """
        table, _, metadata = self._services.look_up(name)
        return table_history(
            table, metadata, self._services.ports.events.since(table=table, limit=_EVENTS), ref=ref
        )

    def diff(
        self,
        name: str | TableName,
        before: str | int,
        after: str | int | None = None,
        *,
        keys: Sequence[str] | None = None,
        examples: int = 5,
    ) -> TableDiff:
        """What was added, removed and changed between two points; rows are matched by the
        pipeline's key unless `keys` are given.
        """
        table, _, metadata = self._services.look_up(name)
        old, new = (self._services.find_point(table, metadata, at) for at in (before, after))
        chosen = self._services.declarations.keys_of(table) if keys is None else keys
        compute = self._services.ports.sessions.open(new_run_id())
        try:
            with self._services.protect_points(table, metadata, old, new):
                return compare(compute, table, metadata, old, new, keys=chosen, examples=examples)
        finally:
            compute.close()

    # -- snapshots, tags and branches

    def rollback(
        self,
        name: str | TableName,
        to: str | int,
        *,
        files: UndoneFiles | None = None,
        wait: float = 0.0,
    ) -> Rollback:
        """Make readers see an earlier point again, or a later one, with its columns.

        Nothing is lost: the way back is another rollback.

        `files` says what becomes of landing files that undone runs consumed: "requeue" lets the
        next run read them again, "exclude" keeps them from all runs.
        """
        table = self.find(name)

        def plan() -> Rollback:
            return self.plan_rollback(table, to, files=files)

        with self._change(table, wait=wait) as lease:
            return roll_back(table, self._services, lease, plan=plan)

    def plan_rollback(
        self, name: str | TableName, to: str | int, *, files: UndoneFiles | None = None
    ) -> Rollback:
        """What `rollback` would do; changes nothing."""
        table, _, metadata = self._services.look_up(name)
        point = self._services.find_point(table, metadata, to)
        ref = metadata.refs.get(str(to))
        by_tag = ref is not None and ref.kind == "tag"
        records = self._services.ports.records
        return plan_rollback(
            table,
            metadata,
            point,
            records.ledger(table),
            records.descents(metadata.uuid),
            files=files,
            by_tag=by_tag,
        )

    def tag(
        self, name: str | TableName, tag: str, *, at: str | int | None = None, replace: bool = False
    ) -> Snapshot:
        """Name a point; a tagged snapshot does not expire."""
        return self._set_ref(name, tag, "tag", at=at, replace=replace)

    def branch(
        self, name: str | TableName, branch: str, *, at: str | int | None = None
    ) -> Snapshot:
        """Start a branch at a point; readers of `main` do not see it."""
        return self._set_ref(name, branch, "branch", at=at, replace=False)

    def untag(self, name: str | TableName, ref: str) -> None:
        """Remove a tag or branch; snapshots that only it kept may expire from now on."""
        self._change_ref(name, lambda table, metadata: plan_ref_removal(table, metadata, ref))

    def _set_ref(
        self, name: str | TableName, ref: str, kind: RefKind, *, at: str | int | None, replace: bool
    ) -> Snapshot:
        require_ref_name(ref)
        points: list[Snapshot] = []

        def plan(table: TableName, metadata: TableMetadata) -> RefChange:
            points.append(self._services.find_point(table, metadata, at))
            return plan_ref(table, metadata, ref, points[-1], kind=kind, replace=replace)

        self._change_ref(name, plan)
        return points[-1]

    def _change_ref(
        self, name: str | TableName, plan: Callable[[TableName, TableMetadata], RefChange]
    ) -> None:
        def attempt() -> None:
            table, pointer, metadata = self._services.look_up(name)
            change = plan(table, metadata)
            self._services.placement.require_relocated(table)
            self._catalog.amend(table, [change.amendment], expected=pointer, records=change.records)

        retry(attempt, repeatable=False)

    # -- names

    def clone(
        self, name: str | TableName, to: str | TableName, *, at: str | int | None = None
    ) -> TableName:
        """Create a table that starts at a point of another; no file is copied, and neither can harm
        the other.
        """
        services = self._services
        target = require_free_name(shown_name(to), services.placement)
        table = self.find(name)
        services.placement.require_relocated(table)
        protected = services.protected(table, at=at, seconds=_CLONING, reader="clone")
        with self._change(target), protected as point, name_may_be_taken(target):
            _, pointer, _ = services.look_up(table)
            location = services.placement.new_location(target)
            records = _events(Event("cloned", target, point.id, {"of": str(table)}))
            self._catalog.clone(
                pointer, target, snapshot=point.id, location=location, records=records
            )
        return target

    def rename(self, name: str | TableName, to: str | TableName) -> TableName:
        """Give a table another name; its files and its history stay."""
        target = require_free_name(shown_name(to), self._services.placement)
        table = self.find(name)
        records = _events(
            Event("renamed", table, detail={"to": str(target)}),
            Event("renamed", target, detail={"from": str(table)}),
        )

        def attempt() -> None:
            require_free_name(target, self._services.placement)
            leases = [old.require(), new.require()]
            self._catalog.rename(self._present(table), target, leases=leases, records=records)

        with self._change(table) as old, self._change(target) as new, name_may_be_taken(target):
            retry(attempt, repeatable=False)
        return target

    def _present(self, table: TableName) -> TableName:
        if table not in self._catalog.pointers([table]):
            raise UnknownName("table", str(table), map(str, self._catalog.pointers()))
        return table

    def drop(self, name: str | TableName) -> DroppedTable:
        """Drop a table; `restore` brings it back until care purges it."""
        table = self.find(name)
        records = _events(Event("dropped", table))
        with self._change(table) as lease:
            gone = retry(
                lambda: self._catalog.drop(table, leases=[lease.require()], records=records),
                repeatable=False,
            )
        if gone is None:
            raise UnknownName("table", str(name), ())
        return gone

    def drop_view(self, view: TableName) -> None:
        """Drop a view; it has no rows, and its pipeline creates it again."""
        with self._change(view):
            if not self._catalog.drop_view(view):
                raise UnknownName("view", str(view), map(str, self._catalog.views()))

    def dropped(self) -> tuple[DroppedTable, ...]:
        """Tables that can be restored, last dropped first."""
        return self._catalog.dropped()

    def restore(self, name: str, *, to: str | TableName | None = None) -> TableName:
        """Bring a dropped table back: the one dropped last under this name, or the one with this
        uuid.
        """
        gone = find_dropped(name, self.dropped())
        target = require_free_name(shown_name(to) if to else gone.table, self._services.placement)
        records = _events(Event("restored", target, detail={"from": str(gone.table)}))
        with self._change(target) as lease, name_may_be_taken(target):
            self._catalog.restore(gone, target, leases=[lease.require()], records=records)
        return target

    # -- leases

    def lease(
        self, name: str | TableName, *, holder: str | None = None, wait: float = 0.0
    ) -> AbstractContextManager[HeldLease]:
        """The lease on a table, which need not exist yet, for the length of a block.

        While another process holds it, this waits for `wait` seconds, then raises `LeaseHeld`.
        """
        return self._services.lease(full_name(name), holder=holder, wait=wait)

    def _change(self, table: TableName, *, wait: float = 0.0) -> AbstractContextManager[HeldLease]:
        return changing(self._services, table, wait=wait)


def _events(*events: Event) -> ChangeRecords:
    return ChangeRecords(events=events)
