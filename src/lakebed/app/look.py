"""Looking at pipelines without running them: SQL, first rows, gates on what is published, where columns come from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.errors import UnknownName, UsageError
from lakebed.names import TableName, new_run_id, short_id
from lakebed.pipelines import Lookahead, PipelineSpec, Preview, RunOptions, preview, run_gates
from lakebed.pipelines.lineage.lineage import ColumnLineage, Lineage, table_lineage, trace_columns
from lakebed.pipelines.releases import known_columns
from lakebed.pipelines.running.manual import BY_HAND
from lakebed.ports import RunRecord, RunState, Verdict
from lakebed.tables.lookup.names import find_by_name

if TYPE_CHECKING:
    from lakebed.app.loading import LoadedPipelines
    from lakebed.app.pipelines import BuildRequest, Pipelines

_ALL = 10_000


@dataclass(frozen=True)
class CompiledSql:
    """What would run, as text: a pipeline's query, or one of its gates."""

    table: TableName
    file: str
    text: str
    gate: str = ""


@dataclass(frozen=True)
class GateResults:
    """A pipeline's gates, asked about what is published; `reason` says why none could be."""

    table: TableName
    verdicts: tuple[Verdict, ...] = ()
    reason: str = ""


OnGateResults = Callable[[GateResults, int], None]


def compile_selected(pipelines: "Pipelines", request: "BuildRequest") -> tuple[CompiledSql, ...]:
    """The SQL of the selected pipelines and their gates. A Python pipeline has none, and is refused if nothing else is meant."""
    loaded = pipelines.load(released=request.released)
    tables = loaded.selected(request.select, request.exclude)
    ahead = Lookahead.of(loaded.specs, pipelines.tools, order_of(request))
    python = [table for table in tables if loaded.specs[table].kind == "python"]
    if len(python) < len(tables):
        ahead.columns |= dict.fromkeys(python)
        tables = tuple(table for table in tables if table not in python)
    return tuple(sql for table in tables for sql in _sql(ahead, loaded.specs[table]))


def _sql(ahead: Lookahead, spec: PipelineSpec) -> list[CompiledSql]:
    query, *gates = ahead.compile(spec.table)
    named = zip(spec.gates, gates, strict=True)
    return [
        CompiledSql(spec.table, query.where, query.text),
        *(CompiledSql(spec.table, one.where, one.text, gate.name) for gate, one in named),
    ]


def preview_one(pipelines: "Pipelines", name: str, request: "BuildRequest", *, limit: int) -> Preview:
    """The first rows that a run of one pipeline would come to."""
    loaded = pipelines.load(released=request.released)
    tables = loaded.selected((name,))
    if len(tables) != 1:
        raise UsageError(f"{name!r} fits {len(tables)} pipelines.", next="Give the whole name of one.")
    return preview(loaded.specs[tables[0]], loaded.specs, pipelines.tools, order_of(request), limit=limit)


def test_selected(pipelines: "Pipelines", request: "BuildRequest", *, on_end: OnGateResults) -> tuple[GateResults, ...]:
    """The gates of the selected pipelines that have some, asked about what is published. `on_end`: each, and of how many."""
    loaded = pipelines.load(released=request.released)
    tables = [table for table in loaded.selected(request.select, request.exclude) if loaded.specs[table].gates]
    results = []
    for table in tables:
        results.append(_test_gates(pipelines, loaded, loaded.specs[table], request))
        on_end(results[-1], len(tables))
    return tuple(results)


def _test_gates(pipelines: "Pipelines", loaded: "LoadedPipelines", spec: PipelineSpec, request: "BuildRequest") -> GateResults:
    tools = pipelines.tools
    if not spec.is_view and spec.table not in tools.placement.catalog.pointers([spec.table]):
        return GateResults(spec.table, reason="it has not been run yet")
    return GateResults(spec.table, run_gates(spec, loaded.specs, tools, order_of(request)))


def lineage_of(pipelines: "Pipelines", request: "BuildRequest") -> Lineage:
    """What the selected pipelines read, and the snapshots their last successful runs saw."""
    loaded = pipelines.load(released=request.released)
    return table_lineage(loaded.specs, loaded.selected(request.select, request.exclude), _last(pipelines))


def columns_selected(pipelines: "Pipelines", request: "BuildRequest") -> tuple[ColumnLineage, ...]:
    """From which columns those of the selected pipelines come. Python cannot be traced: refused if nothing else is meant."""
    loaded = pipelines.load(released=request.released)
    specs = [loaded.specs[table] for table in loaded.selected(request.select, request.exclude)]
    chosen = [spec for spec in specs if spec.kind == "sql"] or specs
    last, schemas = _last(pipelines), known_columns(chosen, pipelines.tools)
    return tuple(trace_columns(spec, schemas, vars=request.vars, run=last.get(spec.table)) for spec in chosen)


def _last(pipelines: "Pipelines") -> dict[TableName, RunRecord]:
    """The newest successful run of each table that did something."""
    runs = pipelines.tools.records.runs(state="success", limit=_ALL)
    return {record.table: record for record in reversed(runs) if record.phases}


def list_runs(pipelines: "Pipelines", *, table: str | None, state: RunState | None, limit: int) -> tuple[RunRecord, ...]:
    """Records, newest first, of one table if asked; that table need not exist any more, nor yet."""
    records = pipelines.tools.records
    if table is None:
        return records.runs(state=state, limit=limit)
    known = {record.table for record in _some(records.runs(limit=_ALL))}
    return records.runs(table=find_by_name(table, known), state=state, limit=limit)


def last_of_a_build(pipelines: "Pipelines") -> RunRecord | None:
    """The newest record of a pipeline's run; what was done by hand since is no build."""
    for limit in (20, _ALL):
        for record in pipelines.tools.records.runs(limit=limit):
            if record.strategy != BY_HAND:
                return record
    return None


def _some(runs: tuple[RunRecord, ...]) -> tuple[RunRecord, ...]:
    if not runs:
        raise UsageError("nothing has run yet.", next="Run something: lakebed run")
    return runs


def find_run(pipelines: "Pipelines", text: str) -> RunRecord:
    """The run whose id begins so; `last` is the newest one."""
    runs = _some(pipelines.tools.records.runs(limit=_ALL))
    found = list(runs[:1]) if text == "last" else [record for record in runs if record.run_id.startswith(text)]
    if len(found) > 1:
        raise UsageError(f"{text!r} fits {len(found)} runs.", next="Give more of the id.")
    if not found:
        raise UnknownName("run", text, [short_id(record.run_id) for record in runs])
    return found[0]


def order_of(request: "BuildRequest") -> RunOptions:
    """A request as a run is told it."""
    return RunOptions(new_run_id(), vars=request.vars, full_refresh=request.full_refresh)
