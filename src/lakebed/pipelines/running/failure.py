"""How runs end when something went wrong: failed, published after all, or unknown which."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from lakebed.errors import LakebedError, LeaseLost, NotPublished, OutcomeUnknown, RunFailed
from lakebed.names import TableName, short_id
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.begin import record_failure
from lakebed.pipelines.running.run import finish
from lakebed.tables import settle_publications
from lakebed.work import retry

NONE_OF_THEM: Mapping[TableName, LakebedError] = {}
_ASKED = 8  # times: publishing has been trying for longer by then


@dataclass
class RunFailure:
    """What went wrong, if anything did."""

    error: LakebedError | None = None


@contextmanager
def recording_failure(
    runs: Sequence[ActiveRun],
    *,
    publication: str,
    own: Mapping[TableName, LakebedError] = NONE_OF_THEM,
) -> Iterator[RunFailure]:
    """An error inside makes all of these runs fail, unless they turn out to have been published.

    A run whose table has its `own` error fails with that one, the others because of it. Only an
    interruption is raised.
    """
    trouble = RunFailure()
    try:
        yield trouble
    except BaseException as raised:
        trouble.error = _end(runs, reason_of(runs, raised), publication, own)
        if not isinstance(raised, Exception | SystemExit):
            raise


def _end(
    runs: Sequence[ActiveRun],
    error: LakebedError,
    publication: str,
    own: Mapping[TableName, LakebedError],
) -> LakebedError | None:
    """End the runs; returns the error, or None if they were published after all."""
    try:
        published = _is_published(runs, publication)
    except LakebedError as silence:
        for run in runs:
            _leave_open(run, OutcomeUnknown(short_id(run.run_id), silence.what))
        return OutcomeUnknown(short_id(publication), silence.what)
    for run in runs:
        if published:
            _finish(run)
        else:
            record_failure(run, own.get(run.table) or (_drawn_in(own) if own else error))
    return None if published else error


def _is_published(runs: Sequence[ActiveRun], publication: str) -> bool:
    """Asked by run id, and only once nothing of it can still be in progress: a commit whose outcome
    is unknown locks the row of the lease.
    """
    known = {run.progress.publishing for run in runs}
    if "done" in known or "tried" not in known:
        return "done" in known
    services, lease = runs[0].services, runs[0].held.lease

    def ask() -> bool:
        with suppress(LeaseLost):
            services.ports.leases.renew(lease)
        settle_publications(services.ports.catalog, own_run=publication)
        return services.ports.catalog.published(publication) is not None

    return retry(ask, attempts=_ASKED)


def _finish(run: ActiveRun) -> None:
    """A published run has not failed, even if steps are left undone: the next run does them."""
    try:
        finish(run)
    except LakebedError as error:
        run.log.warning("not finished: %s", error)


def _leave_open(run: ActiveRun, doubt: OutcomeUnknown) -> None:
    """The stored record is left as it is: publishing has made it a success, or the next run closes
    it.
    """
    run.log.error("%s", doubt)
    run.progress.record = replace(
        run.progress.record,
        state="failed",
        snapshot=None,
        ended_at=run.services.ports.now(),
        error=doubt.as_dict(),
    )


def _drawn_in(own: Mapping[TableName, LakebedError]) -> LakebedError:
    culprits = ", ".join(str(table) for table in sorted(own))
    return NotPublished(
        f"it was not published, because {culprits} failed and all are published together or none."
    )


def reason_of(runs: Sequence[ActiveRun], raised: BaseException) -> LakebedError:
    """Why they fail. What an interruption cancels says only that it was cancelled."""
    error = as_error(raised)
    cancelled = type(error) is RunFailed and any(run.options.stop.is_set() for run in runs)
    return as_error(KeyboardInterrupt()) if cancelled else error


def as_error(raised: BaseException) -> LakebedError:
    """An unexpected exception is an error like others: the run fails, the table is unchanged."""
    if isinstance(raised, LakebedError):
        return raised
    if isinstance(raised, KeyboardInterrupt):
        return RunFailed("it was interrupted.")
    if isinstance(raised, SystemExit):  # of a generator, say, whose rows were just asked for
        return RunFailed("the pipeline's code called sys.exit.", next="Return rows, or raise.")
    return RunFailed(
        f"Lakebed itself failed: {type(raised).__name__}: {raised}",
        next="Run it again with --debug and report it.",
    )
