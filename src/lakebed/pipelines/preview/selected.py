"""What the selected pipelines would do, without running them: plans, SQL, first rows, and gates on
what is published.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from lakebed.errors import LakebedError, UsageError, raise_all
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.fitting_options import require_fitting_options
from lakebed.pipelines.loading import LoadedPipelines, load_pipelines, require_available_inputs
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


Found = TypeVar("Found")
OnGateResults = Callable[
    [GateResults, int], None
]  # the results of one pipeline, and how many pipelines there are


def plan_selected(options: RunOptions, services: RunServices) -> Plans:
    """What runs would do now; raises if one of them could not run.

    Changes nothing, starts no JVM.
    """
    request = options.request
    loaded, tables, faults = _look(options, services)
    if request.together:
        loaded = loaded.judging_later()
    else:
        faults = (*faults, *loaded.cycles_of(tables))
    alone = not request.together or len(tables) == 1
    ahead = Lookahead.of(loaded.specs, services, options, alone=alone)
    plans = _of_each(tables, ahead.plan, faults)
    for table in tables:
        ahead.check_later_gates(table)
    return Plans(plans)


def _look(
    options: RunOptions, services: RunServices
) -> tuple[LoadedPipelines, Sequence[TableName], Sequence[LakebedError]]:
    """The selected pipelines that can be looked at, and why others cannot be read. Those that read
    such a one are left out.
    """
    request = options.request
    loaded = load_pipelines(services, released=request.released)
    faults = loaded.faults_among(request.select, request.exclude)
    tables = loaded.readable(request.select, request.exclude)
    if faults:
        above = loaded.graph.ancestors
        lost = loaded.unavailable.keys()
        tables = tuple(table for table in tables if not lost & {table, *above(table)})
    require_available_inputs(tables, loaded, services)
    require_fitting_options([loaded.specs[table] for table in tables], request)
    return loaded, tables, faults


def _of_each(
    tables: Iterable[TableName],
    look: Callable[[TableName], Found],
    faults: Sequence[LakebedError],
) -> tuple[Found, ...]:
    """What is found at each pipeline; raises all that is wrong with any of them."""
    found, wrong = list[Found](), list(faults)
    for table in tables:
        try:
            found.append(look(table))
        except UsageError as error:
            wrong.append(error)
    raise_all(wrong)
    return tuple(found)


def compile_selected(options: RunOptions, services: RunServices) -> tuple[CompiledSql, ...]:
    """The SQL of the selected pipelines and their gates; raises if all of them are Python."""
    loaded, tables, faults = _look(options, services)
    ahead = Lookahead.of(loaded.specs, services, options)
    python = [table for table in tables if loaded.specs[table].kind != "sql"]
    if len(python) < len(tables):
        ahead.columns |= dict.fromkeys(python)
        tables = [table for table in tables if table not in python]
    compiled = _of_each(tables, lambda table: _sql(ahead, loaded.specs[table]), faults)
    return tuple(chain.from_iterable(compiled))


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
    require_available_inputs(tables, loaded, services)
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
