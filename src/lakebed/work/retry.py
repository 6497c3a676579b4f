"""The one way to retry. Whether it may help is said by the error (`retryable`), not by whoever
calls.
"""

import time
from collections.abc import Callable
from random import uniform
from typing import TypeVar

from lakebed.errors import Conflict, LakebedError

ATTEMPTS = 20
T = TypeVar("T")


def backoff(attempt: int) -> float:
    """Seconds to wait after the nth attempt: growing, and different for each contender."""
    return uniform(0, min(0.02 * 2 ** (attempt - 1), 1.0))  # noqa: S311 - spreads contenders out


def retry(
    call: Callable[[], T],
    *,
    attempts: int = ATTEMPTS,
    repeatable: bool = True,
    pause: Callable[[int], float] = backoff,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Call until it succeeds, fails with an error that is not retryable, or was attempted so often.

    A call that is not `repeatable` might be done twice if it was done and its answer lost. It is
    retried only after a conflict, which says that nothing was done.
    """
    for attempt in range(1, attempts):
        try:
            return call()
        except LakebedError as error:
            if not error.retryable or not (repeatable or isinstance(error, Conflict)):
                raise
            sleep(pause(attempt))
    return call()
