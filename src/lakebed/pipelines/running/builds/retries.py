"""The one policy by which runs and batches are tried again, and publications follow others'."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lakebed.errors import Diverged, LakebedError
from lakebed.pipelines.planning.plan import REBUILDS
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.run import follow, publish_runs
from lakebed.pipelines.running.steps.rebase import may_rebase

REBASES = 50  # how often the files of a run follow others' appends; each time takes moments


@dataclass(frozen=True)
class Retries:
    """At once if what was read has been overtaken, after a `pause` if the error may pass, never
    after errors that are `hopeless`.
    """

    times: int = 0
    pause: Callable[[int, LakebedError], None] = lambda *_: None
    rebuilds: int = REBUILDS
    hopeless: tuple[type[LakebedError], ...] = ()


def until_done(
    attempt: Callable[[int], LakebedError | None], retries: Retries
) -> LakebedError | None:
    """Try until it succeeds, or the policy says that it is enough. `attempt` gets its number, and
    says what went wrong; so does the answer.
    """
    rebuilds = repeated = 0
    while True:
        error = attempt(rebuilds + repeated + 1)
        if error is None or isinstance(error, retries.hopeless):
            return error
        if error.overtaken and rebuilds < retries.rebuilds:
            rebuilds += 1
        elif error.retryable and repeated < retries.times:
            repeated += 1
            retries.pause(repeated, error)
        else:
            return error


def publish(runs: Sequence[ActiveRun], *, publication: str) -> None:
    """Publish what these runs wrote, in one commit. A run that only appends is not computed again
    because others append, too: its files are put on top of theirs.
    """
    for _ in range(REBASES):
        try:
            return publish_runs(runs, publication=publication)
        except Diverged:
            if len(runs) > 1 or not may_rebase(runs[0]):
                raise
            follow(runs[0])
    return publish_runs(runs, publication=publication)
