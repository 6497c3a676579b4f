"""Retrying: only what the error calls retryable, only so often, and never what might be
done twice.
"""

from collections.abc import Callable

import pytest

from lakebed.errors import (
    FilesUnreachable,
    LakebedError,
    LeaseLost,
    PointerMoved,
    TypesChanged,
)
from lakebed.work import backoff, retry

GONE = FilesUnreachable("the bucket", "no answer")
MOVED = PointerMoved("silver.orders")
LOST = LeaseLost("silver.orders", "another run")
TYPES = TypesChanged("another run has read the column id as string")


def failing(*errors: LakebedError) -> tuple[list[int], Callable[[], str]]:
    """A call that fails with each of these before it succeeds, and how often it was made."""
    calls: list[int] = []

    def call() -> str:
        calls.append(1)
        if len(calls) <= len(errors):
            raise errors[len(calls) - 1]
        return "done"

    return calls, call


def test_a_call_is_repeated_while_its_errors_are_retryable() -> None:
    pauses: list[float] = []
    calls, call = failing(MOVED, GONE)
    assert retry(call, pause=float, sleep=pauses.append) == "done"
    assert len(calls) == 3
    assert pauses == [1.0, 2.0]


@pytest.mark.parametrize("error", [LOST, TYPES], ids=lambda error: type(error).__name__)
def test_an_error_that_no_retry_helps_is_raised_at_once(error: LakebedError) -> None:
    calls, call = failing(error)
    with pytest.raises(type(error)):
        retry(call, sleep=lambda _: None)
    assert len(calls) == 1


def test_after_the_last_attempt_the_error_is_raised() -> None:
    calls, call = failing(MOVED, MOVED, MOVED)
    with pytest.raises(PointerMoved):
        retry(call, attempts=3, sleep=lambda _: None)
    assert len(calls) == 3


def test_what_might_have_been_done_is_not_done_again_unless_that_is_harmless() -> None:
    calls, call = failing(MOVED, GONE)
    with pytest.raises(FilesUnreachable):
        retry(call, repeatable=False, sleep=lambda _: None)
    assert len(calls) == 2


def test_contenders_wait_longer_each_time_and_never_more_than_a_second() -> None:
    for attempt in range(1, 30):
        assert 0 <= backoff(attempt) <= min(0.02 * 2 ** (attempt - 1), 1.0)
