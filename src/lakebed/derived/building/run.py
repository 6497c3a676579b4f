"""Building the layouts of one table: steps that were planned, carried out one after the other. A
layout that fails does not stop the others.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from lakebed.derived.building.columns import fit_of
from lakebed.derived.building.create import LayoutMaker
from lakebed.derived.building.look import (
    SourceState,
    TablesLook,
    look_at_batches,
    look_at_source,
    look_at_tables,
    read_layout_table,
)
from lakebed.derived.building.metrics import commit_metrics, largest, with_totals
from lakebed.derived.building.plan import (
    BUDGET,
    BatchLook,
    large_batches,
    plan_batches,
)
from lakebed.derived.building.services import LayoutServices, LayoutSession, layout_session
from lakebed.derived.building.stamp import stamp
from lakebed.derived.building.steps import (
    AddColumns,
    BuildBatches,
    ClearLayout,
    CreateLayout,
    ForgetLayout,
    LayoutBuild,
    LayoutDone,
    LayoutListener,
    LayoutStep,
    RemoveBatches,
    Restamp,
)
from lakebed.derived.building.write import LayoutWriter
from lakebed.derived.checks import DeclaredLayouts
from lakebed.derived.identity import (
    Layout,
    find_layouts,
    listed_tables,
)
from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.tables import settle_times
from lakebed.work import Ended, Executor


@dataclass(frozen=True)
class BuildOptions:
    """What is built of a table's layouts: those of these names, all batches of them with `force`;
    without `rows` only their tables are made.
    """

    names: Collection[str] | None = None
    force: bool = False
    rows: bool = True
    budget: int = BUDGET
    listener: LayoutListener = field(default_factory=LayoutListener)

    def means(self, name: str) -> bool:
        return self.names is None or name.casefold() in {one.casefold() for one in self.names}


@dataclass(frozen=True)
class TableBuilds:
    """What was done about the layouts of a table; `undeclared` are those that its pipeline does not
    declare, `unknown` are derived tables of kinds that only a newer Lakebed knows, by name.
    """

    builds: tuple[LayoutBuild, ...] = ()
    undeclared: tuple[str, ...] = ()
    unknown: Mapping[TableName, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not any(build.error for build in self.builds)


def build_layouts(
    services: LayoutServices,
    table: TableName,
    options: BuildOptions,
    *,
    declared: DeclaredLayouts | None = None,
) -> TableBuilds:
    """Bring the layouts of a table up to date with its present snapshot. Of what is declared, the
    missing ones are made.
    """
    source = look_at_source(services, table)
    asked = bool(declared and declared.specs)
    if source is None or not (asked or listed_tables(source.metadata)):
        return TableBuilds()
    with layout_session(services) as session:
        run = _LayoutRun(services, session, options, source, declared)
        look = run.make_tables()
        if options.rows:
            run.write_rows()
        sizes = [one.metadata for one in run.present()]
        return TableBuilds(
            with_totals(run.builds, source.metadata, sizes), look.planned.undeclared, look.unknown
        )


@dataclass
class _LayoutRun:
    """One build of one table's layouts, and what it has done so far."""

    services: LayoutServices
    session: LayoutSession
    options: BuildOptions
    source: SourceState
    declared: DeclaredLayouts | None
    _builds: dict[str, LayoutBuild] = field(default_factory=dict)
    _hidden: dict[str, TableName] = field(default_factory=dict)
    _look: BatchLook | None = None  # at the layout that is being written

    @property
    def builds(self) -> tuple[LayoutBuild, ...]:
        return tuple(self._builds.values())

    def present(self) -> tuple[Layout, ...]:
        """The layouts that there are now."""
        _, _, metadata = self.services.tables.look_up(self.source.table)
        return find_layouts(metadata, self.services.ports.catalog)

    # -- hidden tables

    def make_tables(self) -> TablesLook:
        """Make, change and drop hidden tables, one process at a time."""
        look = self._look_at_tables()
        if look.steps:
            with self.services.changing_layouts(self.source.table):
                look = self._look_at_tables()
                for step in look.steps:
                    if isinstance(step, ForgetLayout) or self.options.means(step.name):
                        with self._keeping_error(step.name):
                            self._executor.execute(step)
        return look

    def _look_at_tables(self) -> TablesLook:
        _, _, metadata = self.services.tables.look_up(self.source.table)
        look = look_at_tables(self.services, self.source, self.declared, metadata)
        self._hidden |= {layout.name: layout.table for layout in look.present}
        return look

    # -- rows

    def write_rows(self) -> None:
        """Bring every layout up to date, one after the other."""
        tables = self.services.tables
        with tables.protect_points(self.source.table, self.source.metadata, self.source.head):
            for layout in self.present():
                if self.options.means(layout.name):
                    self._write(layout.name, layout.table)

    def _write(self, name: str, hidden: TableName) -> None:
        self._hidden[name] = hidden
        self._note(name, snapshot=self.source.snapshot)
        with self._keeping_error(name):
            layout = read_layout_table(self.services, hidden)
            if fit_of(layout, self.source.metadata) != "same":
                former = self._note(name).error
                self._note(name, error=former or "its columns are not those of the table")
                return
            look = look_at_batches(self.services, self.session, self.source, layout)
            self._look, budget = look, self.options.budget
            self._note(name, warnings=tuple(large_batches(look, budget=budget)))
            steps = plan_batches(look, force=self.options.force, budget=budget)
            self._note(name, complete=not steps)
            for step in steps:
                self._executor.execute(step)

    # -- steps

    @property
    def _executor(self) -> Executor[LayoutStep, LayoutDone, LayoutDone]:
        return Executor(self._perform, self._record, listener=self.options.listener)

    def _perform(self, step: LayoutStep) -> LayoutDone:
        if isinstance(step, Restamp):
            return self._restamp(step)
        if isinstance(step, ForgetLayout):
            self._maker.forget(step.table)
            return LayoutDone()
        with self.services.ports.sessions.watch(self.options.listener.on_progress):
            return self._perform_by_spark(step)

    def _perform_by_spark(
        self, step: CreateLayout | AddColumns | ClearLayout | RemoveBatches | BuildBatches
    ) -> LayoutDone:
        if hidden := self._hidden.get(step.name):
            now = self.services.ports.leases.store_time()
            settle_times(self.services.ports.catalog, hidden, now=now)
        match step:
            case CreateLayout(spec=spec, replaces=replaces):
                made = self._maker.create(spec, self.source.metadata, replaces=replaces)
                self._hidden[step.name] = made
                return LayoutDone()
            case AddColumns():
                self._maker.add_columns(self._hidden[step.name], self.source.metadata)
                return LayoutDone()
            case ClearLayout():
                return self._writer(step).clear()
            case RemoveBatches(batches=batches):
                return self._writer(step).remove(batches)
            case BuildBatches(batches=batches):
                return self._writer(step).build(batches)
            case _:
                assert_never(step)

    def _restamp(self, step: Restamp) -> LayoutDone:
        labels = [batch.label for batch in self._looked.batches]
        hidden = self._hidden[step.name]
        self._note(step.name, complete=stamp(self.services, self.source, hidden, labels))
        return LayoutDone()

    @property
    def _maker(self) -> LayoutMaker:
        return LayoutMaker(self.services, self.session, self.source.table)

    def _writer(self, step: LayoutStep) -> LayoutWriter:
        hidden, keys = self._hidden[step.name], self._looked.keys
        return LayoutWriter(self.services, self.session, self.source, hidden, keys)

    @property
    def _looked(self) -> BatchLook:
        assert self._look is not None  # noqa: S101 - steps about rows come from a look
        return self._look

    # -- records

    def _record(self, step: LayoutStep, ended: Ended[LayoutDone]) -> LayoutDone:
        done = replace(ended.result or LayoutDone(), seconds=round(ended.seconds, 3))
        if not step.name or ended.error:
            return done
        build = self._note(step.name)
        self._note(
            step.name,
            created=build.created or isinstance(step, CreateLayout),
            removed=build.removed + (len(step.batches) if isinstance(step, RemoveBatches) else 0),
            built=build.built + done.built,
            skipped=build.skipped + len(done.skipped),
            files=build.files + done.files,
            bytes=build.bytes + done.bytes,
            seconds=build.seconds + done.seconds,
            metrics=largest(build.metrics, commit_metrics(done) if done.built else {}),
        )
        return done

    def _note(self, name: str, **known: Any) -> LayoutBuild:
        former = self._builds.get(name) or LayoutBuild(self.source.table, name)
        self._builds[name] = replace(former, **known)
        return self._builds[name]

    @contextmanager
    def _keeping_error(self, name: str) -> Iterator[None]:
        """What fails about one layout does not stop the others."""
        try:
            yield
        except LakebedError as error:
            self._note(name, error=error.what, complete=False)
