"""The step that opens the run's own branch."""

from functools import partial

from lakebed.errors import Diverged, RunFailed, TableDropped
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.ports import SetRef
from lakebed.tables import create_branch
from lakebed.work import retry


def open_branch(run: ActiveRun, at: int | None) -> None:
    """Open the run's own branch at the snapshot it has read, unless nothing will be written."""
    if run.progress.skip_write:
        return
    if at is None:
        _begin_empty(run)
    else:
        retry(partial(_branch_off, run, at))


def _branch_off(run: ActiveRun, at: int) -> None:
    """One commit to the catalog, which needs no Spark."""
    catalog = run.services.ports.catalog
    pointer = catalog.pointers([run.table]).get(run.table)
    if pointer is None:
        raise TableDropped(str(run.table))
    # others went on, and the state that was read is gone already
    if at not in catalog.metadata([pointer])[run.table].snapshots:
        raise Diverged(str(run.table), run.options.ref, run.branch)
    catalog.amend(
        run.table, (SetRef(run.branch, at),), expected=pointer, leases=(run.held.require(),)
    )


def _begin_empty(run: ActiveRun) -> None:
    """A table without a snapshot: Spark writes the empty one that a branch needs."""
    try:
        run.compute.execute(create_branch(run.table, run.branch))
    except RunFailed:
        if run.metadata(run.table).head(run.options.ref):
            raise Diverged(str(run.table), run.options.ref, run.branch) from None
        raise
