"""The progress of Spark jobs, for a progress bar."""

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERVAL = 0.2

OnProgress = Callable[[int, int], None]


@contextmanager
def watch(session: "SparkSession", on_progress: OnProgress) -> Iterator[None]:
    """Report finished tasks and tasks known so far, from another thread; the latter grow as Spark
    plans more stages.
    """
    watched = (
        _watch_remote
        if hasattr(session, "registerProgressHandler") and not is_classic(session)
        else _watch_classic
    )
    with watched(session, on_progress):
        yield


def is_classic(session: "SparkSession") -> bool:
    """Whether the session runs in a JVM of this process, not on a Connect server."""
    return hasattr(session, "_jsparkSession")


@contextmanager
def _watch_remote(session: Any, on_progress: OnProgress) -> Iterator[None]:
    counted = _TaskCount(on_progress)

    def handler(*, stages: Iterable[Any] | None, operation_id: str | None, **_: object) -> None:
        for stage in stages or ():
            counted.update(
                f"{operation_id}/{stage.stage_id}", stage.num_completed_tasks, stage.num_tasks
            )
        counted.report()

    session.registerProgressHandler(handler)
    try:
        yield
    finally:
        session.removeProgressHandler(handler)


@contextmanager
def _watch_classic(session: Any, on_progress: OnProgress) -> Iterator[None]:
    """Classic Spark reports nothing by itself: the jobs of this thread are put into a group, which
    is polled.
    """
    context, group, ended = session.sparkContext, f"lakebed-{uuid.uuid4().hex}", threading.Event()
    watcher = threading.Thread(
        target=_poll,
        args=(context.statusTracker(), group, _TaskCount(on_progress), ended),
        daemon=True,
    )
    context.setJobGroup(group, "lakebed")
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        for name in ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"):
            context.setLocalProperty(name, None)


def _poll(tracker: Any, group: str, counted: "_TaskCount", ended: threading.Event) -> None:
    while True:
        last = ended.wait(INTERVAL)
        for job in map(tracker.getJobInfo, tracker.getJobIdsForGroup(group)):
            for stage in map(tracker.getStageInfo, job.stageIds if job else ()):
                if stage:
                    counted.update(str(stage.stageId), stage.numCompletedTasks, stage.numTasks)
        counted.report()
        if last:
            return


class _TaskCount:
    """Tasks by stage, reported when the totals change."""

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._stages: dict[str, tuple[int, int]] = {}
        self._reported = (0, 0)

    def update(self, stage: str, done: int, total: int) -> None:
        known = self._stages.get(stage, (0, 0))
        self._stages[stage] = (max(done, known[0]), max(total, known[1]))

    def report(self) -> None:
        sums = (
            sum(done for done, _ in self._stages.values()),
            sum(total for _, total in self._stages.values()),
        )
        if sums != self._reported:
            self._reported = sums
            self._on_progress(*sums)
