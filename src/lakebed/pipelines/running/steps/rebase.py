"""The step by which rows that a run has appended follow those of others: nothing is computed
again.
"""

from dataclasses import replace
from functools import partial

from lakebed.errors import Diverged
from lakebed.pipelines.planning.steps import Rebase, RunGate
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.gates import compiled_gates
from lakebed.ports import MAIN, RemoveSnapshots, SetRef
from lakebed.sql import read_filtering
from lakebed.tables import SchemaChange, can_rebase
from lakebed.work import retry


def may_rebase(run: ActiveRun) -> bool:
    """Whether the plan says so, and the run has only added rows, and so have the others."""
    former, base, made = run.context.target.metadata, run.base, run.made
    if former is None or base is None or not _only_adds(run):
        return False
    if made is None or made.parent != base or made.operation != "append":
        return False
    return can_rebase(former, run.metadata(run.table), base=base, ref=MAIN)


def _only_adds(run: ActiveRun) -> bool:
    progress = run.progress
    return (
        any(isinstance(step, Rebase) for step in run.plan.otherwise)
        and progress.schema_change == SchemaChange()
        and not (progress.skip_write or progress.unchanged)
    )


def rebase(run: ActiveRun) -> None:
    """Put the run's files on top of the present `main`, as the one snapshot of the run."""
    retry(partial(_rebase, run), repeatable=False)
    progress, made = run.progress, run.made
    if made and made.rows is not None:
        rows = {**progress.record.rows, "total": made.rows}
        progress.record = replace(progress.record, rows=rows)


def _rebase(run: ActiveRun) -> None:
    catalog, made = run.services.ports.catalog, run.made
    pointer = catalog.pointers([run.table]).get(run.table)
    if pointer is None or made is None or not may_rebase(run):
        raise Diverged(str(run.table), run.options.ref, run.branch)
    onto = catalog.metadata([pointer])[run.table].head(MAIN)
    fresh = run.services.ports.snapshots.appending(pointer, made=made.id)
    amendments = (fresh, SetRef(run.branch, fresh.snapshot), RemoveSnapshots((made.id,)))
    catalog.amend(run.table, amendments, expected=pointer, leases=[run.held.require()])
    run.progress.rebased_on = onto.id if onto else None
    run.progress.record = replace(run.progress.record, base=run.base)


def gates_to_repeat(run: ActiveRun) -> tuple[RunGate, ...]:
    """The gates whose answer may depend on others' rows: all that do more than filter rows. Their
    verdicts are forgotten.
    """
    queries = compiled_gates(run)
    filters = {
        gate
        for gate, query in queries.items()
        if (rows := read_filtering(query)) and rows.source == run.gate_target
    }
    progress = run.progress
    progress.verdicts = [verdict for verdict in progress.verdicts if verdict.gate in filters]
    steps = (step for step in run.plan.prepare if isinstance(step, RunGate))
    return tuple(step for step in steps if step.gate.name not in filters)
