"""Ending a query from another thread."""

from collections.abc import Callable
from threading import Lock


class Cancellation:
    """Given to a query, it ends it: `lake.query(sql, stop=stop)` here, `stop.cancel()` there. The query raises `QueryEnded`."""

    def __init__(self) -> None:
        self._ends: list[Callable[[], None]] = []
        self._now, self._lock = False, Lock()

    @property
    def pressed(self) -> bool:
        """Whether it was used."""
        return self._now

    def cancel(self) -> None:
        """End what was begun with it, and what will be."""
        with self._lock:
            self._now, ends = True, tuple(self._ends)
        for end in ends:
            end()

    def on_cancel(self, end: Callable[[], None]) -> None:
        """What ends a query that begins; called at once if it is too late to begin."""
        with self._lock:
            self._ends.append(end)
            late = self._now
        if late:
            end()
