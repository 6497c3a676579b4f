"""The gates of a run: asked side by side, and what their answers mean."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from lakebed.errors import GateFailed
from lakebed.names import short_id
from lakebed.pipelines.planning.compile import compile_gate, compile_query
from lakebed.pipelines.planning.steps import RunGate, phase_name
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.ports import Phase
from lakebed.quality import run_gate

GATES_AT_ONCE = 3


def judge_all(run: ActiveRun, steps: Sequence[RunGate]) -> None:
    """Gates only read: they are asked side by side, and their answers kept in the order of the plan."""
    run.held.require()
    this = f"({compile_query(run.context).text}\n)" if run.spec.is_view else run.gate_target
    asked = [compile_gate(run.context, step.gate, this=this, of=run.write_target).text for step in steps]
    compute = run.compute
    for step in steps:
        run.options.listener.on_step(run.run_id, step, "before")
    with ThreadPoolExecutor(GATES_AT_ONCE) as pool:
        verdicts = list(pool.map(lambda step, query: run_gate(step.gate, query, compute=compute), steps, asked))
    for step, verdict in zip(steps, verdicts, strict=True):
        run.verdicts.append(verdict)
        run.record = replace(run.record, phases=(*run.record.phases, Phase(phase_name(step), verdict.seconds)))
        found = "passed" if verdict.passed else f"{verdict.bad_rows} bad rows {verdict.error}"
        run.log.info("gate %s: %s", verdict.gate, found)
        run.options.listener.on_step(run.run_id, step, "after")


def require_gates_passed(run: ActiveRun) -> None:
    blocking = [verdict for verdict in run.verdicts if verdict.blocks]
    if not blocking:
        return
    first = blocking[0]
    found = first.error or f"{first.bad_rows} bad row{'s' if first.bad_rows != 1 else ''}"
    more = f", and {len(blocking) - 1} more" if len(blocking) > 1 else ""
    raise GateFailed(
        f"the gate {first.gate} found {found}{more}.",
        where=str(run.table),
        safe="Readers see the table as it was.",
        next=f"Look at the rows: lakebed runs show {short_id(run.run_id)}",
    )
