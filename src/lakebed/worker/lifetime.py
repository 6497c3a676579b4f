"""How long a worker stays when nobody uses it."""

import time
from collections.abc import Mapping
from typing import Any

from lakebed.engines.worker.digest import installation
from lakebed.engines.worker.places import WorkerPlace
from lakebed.worker.memory import is_short

_LOOK = 2.0  # seconds between looks at the machine


class Lifetime:
    """Tells when an unused worker is to end."""

    def __init__(self, place: WorkerPlace, about: Mapping[str, Any]) -> None:
        self._place, self._idle_seconds = place, float(about["idle_seconds"])
        self._installed = installation()
        self._used = time.monotonic()
        self._next_look = 0.0

    def used(self) -> None:
        """Somebody uses the worker now."""
        self._used = time.monotonic()

    @property
    def seconds_left(self) -> float:
        """Until it has been idle for too long."""
        return max(0.0, self._used + self._idle_seconds - time.monotonic())

    def is_over(self) -> bool:
        """Whether an unused worker is to end now."""
        if self.seconds_left == 0.0:
            return True
        if time.monotonic() < self._next_look:
            return False
        self._next_look = time.monotonic() + _LOOK
        return self._is_unwanted()

    def _is_unwanted(self) -> bool:
        """Whether memory is short, or nobody can come any more: the socket was removed, or an
        upgrade has made this worker's digest one that no command has.
        """
        return is_short() or not self._place.socket.exists() or self._installed != installation()
