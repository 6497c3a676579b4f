"""The gates of a run: what they check, and what their verdicts mean."""

from lakebed.errors import GateFailed, LakebedError
from lakebed.names import short_id
from lakebed.pipelines.planning.compile import compile_gate, compile_query
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.ports import Verdict
from lakebed.quality import Gate, GateQueries, could_not_run, run_gate

GATES_AT_ONCE = 3


def compiled_gates(run: ActiveRun) -> dict[str, str]:
    """The queries of all gates, on what the run has written or on the query of a view."""
    this = f"({compile_query(run.context).text}\n)" if run.spec.is_view else run.gate_target
    return {
        gate.name: compile_gate(run.context, gate, this=this, of=run.write_target).text
        for gate in run.spec.gates
    }


def judge(run: ActiveRun, gate: Gate, queries: GateQueries) -> Verdict:
    """The gate's verdict. If it could not run, that is an error of the run: retryable as its cause
    is, and the record says which gate it was.
    """
    try:
        return run_gate(gate, queries, compute=run.compute)
    except LakebedError as error:
        run.progress.verdicts.append(could_not_run(gate, error))
        error.what = f"the gate {gate.name} could not run: {error.what}"
        error.where = error.where or gate.where
        raise


def log_verdict(run: ActiveRun, verdict: Verdict) -> None:
    """Write to the run's log what a gate found."""
    found = "passed" if verdict.passed else f"{verdict.bad_rows} bad rows"
    run.log.info("gate %s: %s", verdict.gate, found)


def require_gates_passed(run: ActiveRun) -> None:
    """Raise `GateFailed` if a gate that blocks found bad rows."""
    blocking = [verdict for verdict in run.progress.verdicts if verdict.blocks]
    if not blocking:
        return
    first = blocking[0]
    found = f"{first.bad_rows} bad row{'s' if first.bad_rows != 1 else ''}"
    more = f", and {len(blocking) - 1} more" if len(blocking) > 1 else ""
    raise GateFailed(
        f"the gate {first.gate} found {found}{more}.",
        where=str(run.table),
        safe="Readers see the table as it was.",
        next=f"Look at the rows: lakebed runs show {short_id(run.run_id)}",
    )
