"""What the selected pipelines would do, without running them: plans, SQL, first rows, and gates on
what is published.
"""

from collections.abc import Callable
from dataclasses import dataclass

from lakebed.errors import UsageError
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.fitting_options import require_fitting_options
from lakebed.pipelines.loading import LoadedPipelines, load_pipelines, require_released_inputs
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.plan_text import Plans
from lakebed.pipelines.preview.lookahead import Lookahead
from lakebed.pipelines.preview.preview import Preview, preview, run_gates
from lakebed.pipelines.services import RunServices
from lakebed.ports import Verdict


@dataclass(frozen=True)
class CompiledSql:
    """The SQL of a pipeline's query, or of one of its gates."""

    table: TableName
    file: str
    text: str
    gate: str = ""


@dataclass(frozen=True)
class GateResults:
    """The verdicts of a pipeline's gates on what is published; `reason` says why there are none."""

    table: TableName
    verdicts: tuple[Verdict, ...] = ()
    reason: str = ""


OnGateResults = Callable[
    [GateResults, int], None
]  # the results of one pipeline, and how many pipelines there are


def plan_selected(options: RunOptions, services: RunServices) -> Plans:
    """What runs would do now; raises if one of them could not run.

    Changes nothing, starts no JVM.
    """
    request = options.request
    loaded = load_pipelines(services, released=request.released)
    tables = loaded.selected(request.select, request.exclude)
    require_released_inputs(tables, loaded, services)
    require_fitting_options([loaded.specs[table] for table in tables], request)
    alone = not request.together or len(tables) == 1
    ahead = Lookahead.of(loaded.specs, services, options, alone=alone)
    return Plans(map(ahead.plan, tables))


def compile_selected(options: RunOptions, services: RunServices) -> tuple[CompiledSql, ...]:
    """The SQL of the selected pipelines and their gates; raises if all of them are Python."""
    request = options.request
    loaded = load_pipelines(services, released=request.released)
    tables = loaded.selected(request.select, request.exclude)
    require_fitting_options([loaded.specs[table] for table in tables], request)
    ahead = Lookahead.of(loaded.specs, services, options)
    python = [table for table in tables if loaded.specs[table].kind != "sql"]
    if len(python) < len(tables):
        ahead.columns |= dict.fromkeys(python)
        tables = tuple(table for table in tables if table not in python)
    return tuple(sql for table in tables for sql in _sql(ahead, loaded.specs[table]))


def _sql(ahead: Lookahead, spec: PipelineSpec) -> list[CompiledSql]:
    query, *queries = ahead.compile(spec.table)
    compiled = zip(spec.gates, queries, strict=True)
    gates = [CompiledSql(spec.table, one.where, one.text, gate.name) for gate, one in compiled]
    return [CompiledSql(spec.table, query.where, query.text), *gates]


def preview_one(name: str, options: RunOptions, services: RunServices, *, limit: int) -> Preview:
    """The first rows that a run of one pipeline would produce."""
    request = options.request
    loaded = load_pipelines(services, released=request.released)
    tables = loaded.selected((name,))
    if len(tables) != 1:
        raise UsageError(
            f"{name!r} selects {len(tables)} pipelines.", next="Give the whole name of one."
        )
    require_fitting_options([loaded.specs[tables[0]]], request)
    return preview(loaded.specs[tables[0]], loaded.specs, services, options, limit=limit)


def test_selected(
    options: RunOptions, services: RunServices, *, on_end: OnGateResults
) -> tuple[GateResults, ...]:
    """Run the gates of the selected pipelines on what is published.

    Pipelines without gates are left out.
    """
    request = options.request
    loaded = load_pipelines(services, released=request.released)
    tables = [
        table
        for table in loaded.selected(request.select, request.exclude)
        if loaded.specs[table].gates
    ]
    results = []
    for table in tables:
        results.append(_gate_results(loaded, loaded.specs[table], options, services))
        on_end(results[-1], len(tables))
    return tuple(results)


def _gate_results(
    loaded: LoadedPipelines, spec: PipelineSpec, options: RunOptions, services: RunServices
) -> GateResults:
    if not spec.is_view and spec.table not in services.ports.catalog.pointers([spec.table]):
        return GateResults(spec.table, reason="it has not been run yet")
    return GateResults(spec.table, run_gates(spec, loaded.specs, services, options))
