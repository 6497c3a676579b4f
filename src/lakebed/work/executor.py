"""The one executor: checks, timings, records and listeners are around every step, inside none."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Generic, TypeVar

from lakebed.work.listener import Listener
from lakebed.work.plan import Step

S = TypeVar("S", bound=Step)
T = TypeVar("T")
R = TypeVar("R")


@dataclass
class Ended(Generic[T]):
    """How a step ended: with a result or an error, and after how many seconds."""

    result: T | None = None
    error: BaseException | None = None
    seconds: float = 0.0


@contextmanager
def recorded(
    step: S, record: Callable[[S, Ended[T]], R], listener: Listener[S, R]
) -> Iterator[Ended[T]]:
    """Time and record the block as this step: for work that several plans do in one."""
    listener.on_start(step)
    ended = Ended[T]()
    began = time.monotonic()
    try:
        yield ended
    except BaseException as error:
        ended.error = error
        raise
    finally:
        ended.seconds = time.monotonic() - began
        done = record(step, ended)
    listener.on_end(step, done)


@dataclass(frozen=True)
class Executor(Generic[S, T, R]):
    """Carries out steps that return `T`, keeping a record `R` of each.

    `perform` matches on the kind of step and ends in `assert_never`, so that mypy refuses a new
    kind without an arm. `check` raises where work must not go on: it was interrupted, or the lease
    was lost.
    """

    perform: Callable[[S], T]
    record: Callable[[S, Ended[T]], R]
    check: Callable[[], None] = lambda: None
    listener: Listener[S, R] = field(default_factory=Listener)
    # neighbouring steps that only read are done side by side
    only_reads: Callable[[S], bool] = lambda _: False
    threads: int = 1

    def execute_all(self, steps: Iterable[S]) -> None:
        """Carry out steps one after the other; the first failure ends it."""
        for side_by_side, group in groupby(steps, key=self.only_reads):
            if side_by_side:
                self._execute_side_by_side(tuple(group))
                continue
            for step in group:
                self.execute(step)

    def execute(self, step: S) -> T | None:
        """Carry out one step; a failure is recorded and raised."""
        self.check()
        with recorded(step, self.record, self.listener) as ended:
            ended.result = self.perform(step)
        return ended.result

    def attempt(self, step: S) -> R:
        """Carry out one step whose failure concerns no other: it is recorded, not raised."""
        self.listener.on_start(step)
        record = self.record(step, self._timed(step))
        self.listener.on_end(step, record)
        return record

    def _execute_side_by_side(self, steps: tuple[S, ...]) -> None:
        """Steps are recorded in the order of the plan once all have ended; the first failure is
        raised after that.
        """
        self.check()
        for step in steps:
            self.listener.on_start(step)
        with ThreadPoolExecutor(self.threads) as pool:
            endings = list(pool.map(self._timed, steps))
        for step, ended in zip(steps, endings, strict=True):
            record = self.record(step, ended)
            if ended.error is None:
                self.listener.on_end(step, record)
        for ended in endings:
            if ended.error:
                raise ended.error

    def _timed(self, step: S) -> Ended[T]:
        began = time.monotonic()
        ended = Ended[T]()
        try:
            ended.result = self.perform(step)
        except Exception as error:
            ended.error = error
        ended.seconds = time.monotonic() - began
        return ended
