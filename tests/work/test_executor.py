"""The executor: what is around every step, whatever the step does."""

from dataclasses import dataclass
from threading import Barrier

import pytest

from lakebed.work import Ended, Executor, Listener, Plan, recorded


@dataclass(frozen=True)
class Note:
    """A step of a plan that only tests have."""

    action: str
    subject: str = "table"
    why: str = "a test"
    reads: bool = False


class Bench:
    """Keeps what happened, in order."""

    def __init__(self, *, failing: str = "", threads: int = 1) -> None:
        self.happened: list[str] = []
        self.failing, self.stopped = failing, False
        listener = Listener[Note, str](
            on_start=lambda step: self.happened.append(f"start {step.action}"),
            on_end=lambda step, record: self.happened.append(f"end {step.action}: {record}"),
        )
        reads = lambda step: step.reads  # noqa: E731
        self.executor = Executor(
            self.perform,
            self.record,
            check=self.check,
            listener=listener,
            only_reads=reads,
            threads=threads,
        )

    def check(self) -> None:
        if self.stopped:
            raise InterruptedError

    def perform(self, step: Note) -> int:
        self.happened.append(f"do {step.action}")
        if step.action == self.failing:
            raise ValueError(step.action)
        return len(step.action)

    def record(self, step: Note, ended: Ended[int]) -> str:
        assert ended.seconds >= 0
        found = f"failed {ended.error}" if ended.error else f"result {ended.result}"
        self.happened.append(f"record {step.action}")
        return found


def test_every_step_is_announced_done_recorded_and_reported_in_that_order() -> None:
    bench = Bench()
    bench.executor.execute_all([Note("a"), Note("bb")])
    assert bench.happened == [
        *("start a", "do a", "record a", "end a: result 1"),
        *("start bb", "do bb", "record bb", "end bb: result 2"),
    ]


def test_the_first_failure_is_recorded_and_ends_the_work() -> None:
    bench = Bench(failing="b")
    with pytest.raises(ValueError, match="b"):
        bench.executor.execute_all([Note("a"), Note("b"), Note("c")])
    assert bench.happened[-3:] == ["start b", "do b", "record b"]


def test_an_attempt_that_fails_is_recorded_and_does_not_stop_the_others() -> None:
    bench = Bench(failing="b")
    assert [bench.executor.attempt(Note(name)) for name in "abc"] == [
        "result 1",
        "failed b",
        "result 1",
    ]
    assert "end b: failed b" in bench.happened


def test_no_step_starts_once_the_check_says_stop() -> None:
    bench = Bench()
    bench.executor.execute(Note("a"))
    bench.stopped = True
    with pytest.raises(InterruptedError):
        bench.executor.execute_all([Note("b", reads=True)])
    with pytest.raises(InterruptedError):
        bench.executor.execute(Note("c"))
    assert not any("b" in line or "c" in line.split()[1] for line in bench.happened)


def test_what_neighbours_of_a_failed_step_returned_is_recorded_before_the_failure_is_raised() -> (
    None
):
    bench = Bench(failing="r1")
    with pytest.raises(ValueError, match="r1"):
        bench.executor.execute_all([Note("r1", reads=True), Note("r2", reads=True), Note("z")])
    assert bench.happened[-3:] == ["record r1", "record r2", "end r2: result 2"]


def test_neighbours_that_only_read_run_side_by_side_and_are_recorded_in_the_order_of_the_plan() -> (
    None
):
    met = Barrier(2, timeout=60)  # passes only if both are under way at once
    bench = Bench(threads=2)
    steps = [Note("a"), Note("r1", reads=True), Note("r2", reads=True), Note("z")]

    def perform(step: Note) -> int:
        if step.reads:
            met.wait()
        return 0

    executor = Executor(
        perform,
        bench.record,
        listener=bench.executor.listener,
        only_reads=bench.executor.only_reads,
        threads=2,
    )
    executor.execute_all(steps)
    assert [line for line in bench.happened if "r" in line.split()[1]] == [
        *("start r1", "start r2", "record r1", "end r1: result 0", "record r2", "end r2: result 0"),
    ]
    assert bench.happened[-1] == "end z: result 0"


def test_what_several_plans_do_in_one_is_recorded_for_each_also_when_interrupted() -> None:
    bench = Bench()
    with (
        pytest.raises(KeyboardInterrupt),
        recorded(Note("a"), bench.executor.record, bench.executor.listener),
        recorded(Note("b"), bench.executor.record, bench.executor.listener),
    ):
        raise KeyboardInterrupt
    assert bench.happened == ["start a", "start b", "record b", "record a"]


def test_a_plan_lists_its_steps_in_the_order_in_which_they_are_done() -> None:
    plan = Plan((Note("a"),), (Note("b"),), (Note("c"), Note("d")))
    assert "".join(step.action for step in plan.steps) == "abcd"
