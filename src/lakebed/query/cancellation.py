"""Cancelling a query from another thread."""

from collections.abc import Callable
from threading import Lock


class Cancellation:
    """Cancels the queries it is given to: `lake.query(sql, stop=stop)` here, `stop.cancel()` there;
    they raise `QueryEnded`.
    """

    def __init__(self) -> None:
        self._ends: list[Callable[[], None]] = []
        self._now, self._lock = False, Lock()

    def cancel(self) -> None:
        """End the queries that run with it, and those that will."""
        with self._lock:
            self._now, ends = True, tuple(self._ends)
        for end in ends:
            end()

    def on_cancel(self, end: Callable[[], None]) -> None:
        """Register what ends a query; called at once if it was cancelled before."""
        with self._lock:
            self._ends.append(end)
            late = self._now
        if late:
            end()
