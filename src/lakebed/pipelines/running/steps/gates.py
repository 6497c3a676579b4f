"""The gates of a run: asked side by side, and what their answers mean."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from lakebed.errors import GateFailed
from lakebed.names import short_id
from lakebed.pipelines.planning.compile import compile_gate, compile_query
from lakebed.pipelines.planning.plan import Judge, phase_name
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.ports import Phase
from lakebed.quality import judge

GATES_AT_ONCE = 3


def judge_all(work: ActiveRun, steps: Sequence[Judge]) -> None:
    """Gates only read: they are asked side by side, and their answers kept in the order of the plan."""
    work.held.require()
    this = f"({compile_query(work.setting).text}\n)" if work.spec.is_view else work.judged
    asked = [compile_gate(work.setting, step.gate, this=this, of=work.place).text for step in steps]
    compute = work.compute
    for step in steps:
        work.order.watch(work.run_id, step, "before")
    with ThreadPoolExecutor(GATES_AT_ONCE) as pool:
        verdicts = list(pool.map(lambda step, query: judge(step.gate, query, compute=compute), steps, asked))
    for step, verdict in zip(steps, verdicts, strict=True):
        work.verdicts.append(verdict)
        work.record = replace(work.record, phases=(*work.record.phases, Phase(phase_name(step), verdict.seconds)))
        found = "passed" if verdict.passed else f"{verdict.bad_rows} bad rows {verdict.error}"
        work.log.info("gate %s: %s", verdict.gate, found)
        work.order.watch(work.run_id, step, "after")


def refuse_blocked(work: ActiveRun) -> None:
    blocking = [verdict for verdict in work.verdicts if verdict.blocks]
    if not blocking:
        return
    first = blocking[0]
    found = first.error or f"{first.bad_rows} bad row{'s' if first.bad_rows != 1 else ''}"
    more = f", and {len(blocking) - 1} more" if len(blocking) > 1 else ""
    raise GateFailed(
        f"the gate {first.gate} found {found}{more}.",
        where=str(work.table),
        safe="Readers see the table as it was.",
        next=f"Look at the rows: lakebed runs show {short_id(work.run_id)}",
    )
