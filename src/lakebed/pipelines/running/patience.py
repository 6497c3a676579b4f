"""Asking again before anything has begun: a store that was away for a moment must not fail a build at its start."""

import time
from collections.abc import Callable
from typing import TypeVar

from lakebed.errors import Unavailable

_PAUSES = (1.0, 2.0)  # seconds
T = TypeVar("T")


def retry_unavailable(ask: Callable[[], T]) -> T:
    """The answer to what changes nothing, or changes it once however often it is done; asked three times."""
    for pause in _PAUSES:
        try:
            return ask()
        except Unavailable:
            time.sleep(pause)
    return ask()
