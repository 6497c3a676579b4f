"""When a run or a batch is tried again: the one policy, without a lake."""

from collections.abc import Sequence

import pytest

from lakebed.errors import Diverged, FilesChanged, LakebedError, Unavailable, UsageError
from lakebed.names import TableName
from lakebed.pipelines.planning.steps import StartOver, TryAgain
from lakebed.pipelines.running.builds.retries import Retries

OVERTAKEN = Diverged("a", "main", "run_1")
PASSING = Unavailable("the database does not answer.")
FINAL = UsageError("the query is wrong.")
CHANGED = FilesChanged("a file was changed.")


def tried(
    errors: Sequence[LakebedError | None], retries: Retries
) -> tuple[int, LakebedError | None]:
    """How many attempts there were, and what came of the last."""
    numbers = [retries.number]
    while retries.again(error := errors[min(retries.number, len(errors)) - 1]):
        numbers.append(retries.number)
    assert numbers == list(range(1, len(numbers) + 1))
    return len(numbers), error


@pytest.mark.parametrize(
    ("errors", "retries", "attempts", "error"),
    [
        ([None], Retries(3, 0), 1, None),
        ([OVERTAKEN, None], Retries(3, 0), 2, None),
        ([OVERTAKEN], Retries(3, 0), 4, OVERTAKEN),
        ([OVERTAKEN], Retries(0, 0), 1, OVERTAKEN),
        ([PASSING], Retries(3, 0), 1, PASSING),
        ([PASSING], Retries(3, 2), 3, PASSING),
        ([FINAL], Retries(3, 2), 1, FINAL),
        ([OVERTAKEN, PASSING, OVERTAKEN, None], Retries(3, 1), 4, None),
        ([CHANGED], Retries(3, 2, hopeless=(FilesChanged,)), 1, CHANGED),
    ],
)
def test_what_was_overtaken_is_repeated_at_once_and_what_may_pass_as_often_as_is_said(
    errors: Sequence[LakebedError | None],
    retries: Retries,
    attempts: int,
    error: LakebedError | None,
) -> None:
    assert tried(errors, retries) == (attempts, error)


def test_only_what_may_pass_is_waited_for() -> None:
    waits: list[tuple[int, LakebedError]] = []
    retries = Retries(3, 2, pause=lambda number, error: waits.append((number, error)))
    assert tried([OVERTAKEN, PASSING, PASSING, None], retries) == (4, None)
    assert waits == [(1, PASSING), (2, PASSING)]


def test_a_run_is_repeated_as_often_as_the_steps_of_its_plan_say() -> None:
    table = TableName("shop", "silver", "orders")
    steps = (StartOver(table, 1), TryAgain(table, 2))
    for shown, attempts in ((steps, 4), (steps[:1], 2), (steps[1:], 3), ((), 1)):
        overtaken = [OVERTAKEN] if steps[0] in shown else []
        retries = Retries.of(shown, pause=lambda *_: None)
        assert tried([*overtaken, PASSING], retries) == (attempts, PASSING)
