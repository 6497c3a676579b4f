"""Running one pipeline, and again if that may help; the error says whether it may."""

from contextlib import ExitStack
from dataclasses import dataclass, replace

from lakebed.errors import LakebedError
from lakebed.names import new_run_id
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.plan import REBUILDS
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.begin import begin, closing
from lakebed.pipelines.running.builds.build_request import Build, hold_table
from lakebed.pipelines.running.builds.run_records import record_not_begun, with_set_aside
from lakebed.pipelines.running.failure import as_error, recording_failure
from lakebed.pipelines.running.run import finish, prepare, publish_runs
from lakebed.ports import QuarantinedFile, RunRecord

LONGEST_DELAY = 3600.0


@dataclass(frozen=True)
class Outcome:
    """How an attempt went."""

    record: RunRecord
    error: LakebedError | None = None
    later: int = 0  # files that were left to further runs


def attempt_until(build: Build, spec: PipelineSpec) -> Outcome:
    """Run, and run again: at once if the run was overtaken, after a delay if its error is
    retryable.
    """
    retries = rebuilds = 0
    aside: tuple[QuarantinedFile, ...] = ()
    while True:
        outcome = _attempt(build, spec, attempt=retries + rebuilds + 1)
        aside, error = (*aside, *outcome.record.set_aside), outcome.error
        if error and error.overtaken and rebuilds < REBUILDS and not _rows_are_gone(build):
            rebuilds += 1
        elif error and error.retryable and retries < spec.config.max_retries:
            retries += 1
            build.sleep(min(spec.config.retry_delay(retries), LONGEST_DELAY))
        else:
            return replace(outcome, record=with_set_aside(build, outcome.record, aside))


def _rows_are_gone(build: Build) -> bool:
    """Whether a second attempt would find no rows: those of a manual change may be readable only
    once.
    """
    change = build.options.manual_change
    return change is not None and change.readable_once


def _attempt(build: Build, spec: PipelineSpec, *, attempt: int) -> Outcome:
    """One run from its lease to its last step; an error is part of the outcome, not raised."""
    run_id = new_run_id()
    with ExitStack() as stack:
        try:
            held = stack.enter_context(hold_table(build, spec.table, run_id))
            run = begin(build, spec, held=held, run_id=run_id, attempt=attempt)
        except Exception as raised:  # no lease, a record that cannot be written, or a fault of ours
            error = as_error(raised)
            return Outcome(
                record_not_begun(build, spec, error, run_id=run_id, attempt=attempt), error
            )
        with closing(run), recording_failure([run], publication=run_id) as failure:
            prepare(run)
            if run.plan.publish:
                publish_runs([run], publication=run_id)
            finish(run)
    return Outcome(run.progress.record, failure.error, 0 if failure.error else _later(run))


def _later(run: ActiveRun) -> int:
    """How many files are left for further runs of the pipeline."""
    return max((pin.later for pin in run.context.pins.landing.values()), default=0)
