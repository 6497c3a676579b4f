"""A lake's pipelines: found, selected, planned, run and looked at. What `Lake` hands on to."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lakebed import errors
from lakebed.app import look
from lakebed.app.artifacts import args_of, keep_artifacts
from lakebed.app.loading import LoadedPipelines, load_all_released, load_drafts, require_released_inputs
from lakebed.app.patience import retry_unavailable
from lakebed.errors import LakebedError, RunFailed, UsageError
from lakebed.names import TableName
from lakebed.pipelines import (
    Build,
    Lookahead,
    Preview,
    RunPlan,
    RunServices,
    read_log,
    require_known_refs,
    run_each,
    run_together,
)
from lakebed.pipelines.lineage.lineage import ColumnLineage, Lineage
from lakebed.pipelines.releases import save_drafts
from lakebed.ports import RunRecord, RunState
from lakebed.tables import settle_publications

if TYPE_CHECKING:
    from lakebed.app.releases import PipelineReleases


@dataclass(frozen=True)
class BuildRequest:
    """Which pipelines, and how they are to run."""

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    full_refresh: bool = False
    vars: Mapping[str, Any] = field(default_factory=dict)
    released: bool = False  # the newest releases instead of the drafts


@dataclass(frozen=True)
class BuildResult:
    """What a build came to: a record of every run, in the order of the graph."""

    invocation: str
    records: tuple[RunRecord, ...]
    left_out: tuple[TableName, ...] = ()  # not run because they were never released

    @property
    def ok(self) -> bool:
        return all(record.state == "success" for record in self.records)

    @property
    def exit_code(self) -> int:
        """What the command line returns: 0, or that of the worst error."""
        kinds = [getattr(errors, record.error.get("kind", ""), RunFailed) for record in self.records if record.error]
        return 0 if self.ok else max((kind.exit_code for kind in kinds), default=RunFailed.exit_code)


@dataclass(frozen=True)
class BuildListener:
    """Who is told how a build goes on."""

    on_select: Callable[[tuple[TableName, ...]], None] = lambda _: None
    on_start: Callable[[TableName], None] = lambda _: None
    on_end: Callable[[RunRecord], None] = lambda _: None
    on_wait: Callable[[TableName, LakebedError], None] = lambda *_: None  # somebody else has the table


class Pipelines:
    """The pipelines of one lake."""

    def __init__(self, tools: Callable[[], RunServices]) -> None:
        self._open = tools

    @property
    def tools(self) -> RunServices:
        return self._open()

    @property
    def releases(self) -> "PipelineReleases":
        """Their versions and drafts."""
        from lakebed.app.releases import PipelineReleases

        return PipelineReleases(lambda: self.tools)

    def load(self, *, released: bool = False) -> LoadedPipelines:
        """Read all drafts as they are now, where anything wrong in one is refused, with its line; or all newest releases."""
        return load_all_released(self.tools) if released else load_drafts(self.tools)

    def keys_of(self, table: TableName) -> tuple[str, ...]:
        """The columns by which a table's pipeline tells rows apart; none where there is no pipeline, or none that can be read."""
        try:
            spec = self.load().specs.get(table)
        except LakebedError:
            return ()
        return spec.strategy.keys if spec else ()

    def plan(self, request: BuildRequest) -> tuple[RunPlan, ...]:
        """What runs would do now; what could not run is refused. Touches nothing, starts no JVM."""
        loaded = self.load(released=request.released)
        tables = loaded.selected(request.select, request.exclude)
        require_released_inputs(tables, loaded, self.tools)
        ahead = Lookahead.of(loaded.specs, self.tools, look.order_of(request))
        return tuple(map(ahead.plan, tables))

    def run(
        self,
        request: BuildRequest,
        *,
        together: bool = False,
        threads: int = 1,
        fail_fast: bool = False,
        wait: float = 0.0,
        onlooker: BuildListener | None = None,
        watch: Any = None,
    ) -> BuildResult:
        """Run what is selected; each is published as its gates pass, or all `together`.

        A table that another run has is waited for, `wait` seconds at most.
        """
        loaded, tables = retry_unavailable(lambda: self._ready(request))
        order = look.order_of(request) if watch is None else replace(look.order_of(request), watch=watch)
        told = onlooker or BuildListener()
        told.on_select(tables)
        build = Build(loaded.specs, self.tools, order, threads, fail_fast, wait, told.on_start, told.on_end, on_wait=told.on_wait)
        began = time.monotonic()
        records = run_together(build, tables) if together else run_each(build, tables)
        args = vars(request) | {"together": together, "threads": threads, "fail_fast": fail_fast}
        seconds = time.monotonic() - began
        keep_artifacts(self.tools, loaded.specs, records, invocation=order.invocation, elapsed=seconds, args=args)
        return BuildResult(order.invocation, records, loaded.left_out(request.select, request.exclude))

    def _ready(self, request: BuildRequest) -> tuple[LoadedPipelines, tuple[TableName, ...]]:
        """What is to run, found sound and saved."""
        self.tools.placement.require_relocated()
        loaded = self.load(released=request.released)
        tables = loaded.selected(request.select, request.exclude)
        require_released_inputs(tables, loaded, self.tools)
        require_known_refs(tables, loaded.specs, self.tools)
        save_drafts({table: loaded.contents[table] for table in tables if table in loaded.contents}, self.tools)
        return loaded, tables

    def retry(self, *, threads: int = 1, wait: float = 0.0, onlooker: BuildListener | None = None) -> BuildResult:
        """Run again what failed or was skipped in the last build, as it was asked for then; see `run` for `wait`."""
        settle_publications(self.tools.placement.catalog)  # what a crash left half published may have happened after all
        last = look.last_of_a_build(self)
        if last is None:
            raise UsageError("nothing has run yet, so there is nothing to try again.", next="Run something: lakebed run")
        runs = self.tools.records.runs(invocation=last.invocation, limit=10_000)
        done = {record.table for record in runs if record.state == "success"}  # whatever the clock says of its attempts
        wanted = sorted({record.table for record in runs} - done)  # a dead run's record says running
        if not wanted:
            raise UsageError("everything in the last build succeeded.")
        asked = args_of(self.tools.placement.files, last.invocation)
        full_refresh, vars = asked.get("full_refresh", False), asked.get("vars", {})
        request = BuildRequest(tuple(map(str, wanted)), (), full_refresh, vars, released=last.version is not None)
        return self.run(request, together=asked.get("together", False), threads=threads, wait=wait, onlooker=onlooker)

    def find_run(self, text: str) -> RunRecord:
        """The run whose id begins so; `last` is the newest one."""
        return look.find_run(self, text)

    # -- looking; see `look`

    def compile(self, request: BuildRequest) -> tuple[look.CompiledSql, ...]:
        """The SQL that would run. Starts no JVM."""
        return look.compile_selected(self, request)

    def preview(self, name: str, request: BuildRequest | None = None, *, limit: int = 20) -> Preview:
        """The first rows of one pipeline; writes nothing."""
        return look.preview_one(self, name, request or BuildRequest(), limit=limit)

    def test(self, request: BuildRequest, *, on_end: look.OnGateResults = lambda *_: None) -> tuple[look.GateResults, ...]:
        """Gates, asked about what is published."""
        return look.test_selected(self, request, on_end=on_end)

    def lineage(self, request: BuildRequest) -> Lineage:
        """What pipelines read."""
        return look.lineage_of(self, request)

    def columns(self, request: BuildRequest) -> tuple[ColumnLineage, ...]:
        """From which columns those of pipelines come."""
        return look.columns_selected(self, request)

    def runs(self, *, table: str | None = None, state: RunState | None = None, limit: int = 50) -> tuple[RunRecord, ...]:
        """What ran, newest first."""
        return look.list_runs(self, table=table, state=state, limit=limit)

    def log(self, run_id: str) -> str:
        """What a run logged."""
        return read_log(run_id, self.tools)
