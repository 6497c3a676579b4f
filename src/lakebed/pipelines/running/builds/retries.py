"""The one policy by which runs and batches are tried again, and publications follow others'."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from lakebed.errors import Diverged, LakebedError
from lakebed.pipelines.planning.steps import RunStep, StartOver, TryAgain
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.run import follow, publish_runs
from lakebed.pipelines.running.steps.rebase import may_rebase

REBASES = 50  # how often the files of a run follow others' appends; each time takes moments


@dataclass
class Retries:
    """What is left of the attempts at a run or a batch: at once if what was read has been
    overtaken, after a `pause` if the error may pass, none after errors that are `hopeless`.
    """

    rebuilds: int
    times: int
    pause: Callable[[int, LakebedError], None] = lambda *_: None
    hopeless: tuple[type[LakebedError], ...] = ()
    number: int = 1  # of the attempt
    _paused: int = 0

    @classmethod
    def of(
        cls,
        steps: Iterable[RunStep],
        pause: Callable[[int, LakebedError], None],
        hopeless: tuple[type[LakebedError], ...] = (),
    ) -> Self:
        """As often as these steps of a plan say."""
        steps = tuple(steps)
        rebuilds = sum(step.times for step in steps if isinstance(step, StartOver))
        times = sum(step.times for step in steps if isinstance(step, TryAgain))
        return cls(rebuilds, times, pause, hopeless)

    def again(self, error: LakebedError | None) -> bool:
        """Whether another attempt may help, after this one."""
        if error is None or isinstance(error, self.hopeless):
            return False
        if error.overtaken and self.rebuilds:
            self.rebuilds -= 1
        elif error.retryable and self._paused < self.times:
            self._paused += 1
            self.pause(self._paused, error)
        else:
            return False
        self.number += 1
        return True


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
