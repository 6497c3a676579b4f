"""Holding a lease while working: a heartbeat in the background, and a flag that says when it was lost."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from lakebed.errors import LakebedError, LeaseLost, Unavailable
from lakebed.ports import Lease, Leases
from lakebed.tables.run import persistently

BEATS_PER_LIMIT = 4
_GIVEN_BACK = 3  # times: an answer that is lost once is got by asking again


class Held:
    """A lease with its heartbeat. `still` raises `LeaseLost` as soon as the loss is known."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self._lost: LeaseLost | None = None

    def lose(self, loss: LeaseLost) -> None:
        self._lost = loss

    def still(self) -> Lease:
        """The lease, for whoever is about to commit."""
        if self._lost:
            raise self._lost
        return self.lease


@contextmanager
def hold(leases: Leases, name: str, *, holder: str, limit: float) -> Iterator[Held]:
    """Hold a lease for the length of a block."""
    held = Held(leases.acquire(name, holder=holder, limit=limit))
    done = threading.Event()
    heart = threading.Thread(target=_beat, args=(leases, held, done, limit / BEATS_PER_LIMIT), daemon=True, name=f"lease {name}")
    heart.start()
    try:
        yield held
    finally:
        done.set()
        heart.join()
        _give_back(leases, held.lease)


def _give_back(leases: Leases, lease: Lease) -> None:
    """What was done under a lease is done: that it cannot be given back is no error, for it lapses by itself."""
    with suppress(LakebedError):
        persistently(lambda: leases.release(lease), (Unavailable,), _GIVEN_BACK)


def _beat(leases: Leases, held: Held, done: threading.Event, pause: float) -> None:
    while not done.wait(pause):
        try:
            leases.renew(held.lease)
        except LeaseLost as loss:
            held.lose(loss)
            return
        except Unavailable:
            continue  # the store may be back before the limit; if not, the next beat is told of the loss
