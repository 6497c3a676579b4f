"""Holding a lease: a heartbeat in the background, and a flag that is set when the lease is lost."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from lakebed.errors import LakebedError, LeaseHeld, LeaseLost, RunFailed
from lakebed.names import short_id
from lakebed.ports import Lease, Leases
from lakebed.tables.publishing.clock import require_clock
from lakebed.work import retry

BEATS_PER_LIMIT = 4
_PAUSE = 0.2
_RELEASES = 3  # attempts to release a lease


class HeldLease:
    """A lease with its heartbeat. `require` raises `LeaseLost` as soon as the loss is known."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self._lost: LeaseLost | None = None

    def mark_lost(self, loss: LeaseLost) -> None:
        self._lost = loss

    def require(self) -> Lease:
        """The lease, for a commit that is about to be made."""
        if self._lost:
            raise self._lost
        return self.lease


def run_holder(run_id: str, process: str) -> str:
    """The holder of a lease that a run of this process takes."""
    return f"run {short_id(run_id)} of {process}"


def is_held_by_run(lease: Lease | None, run_id: str) -> bool:
    """Whether a run has this lease; if it has not, the run is dead or has ended."""
    return lease is not None and lease.holder.startswith(run_holder(run_id, ""))


@dataclass(frozen=True)
class LeaseWait:
    """How long to wait for another holder's lease, what ends the wait early, and who is
    told of it.
    """

    seconds: float = 0.0
    stop: threading.Event = field(default_factory=threading.Event)
    on_wait: Callable[[LeaseHeld], None] = lambda _: None


@contextmanager
def hold_lease(
    leases: Leases, name: str, *, holder: str, limit: float, wait: LeaseWait | None = None
) -> Iterator[HeldLease]:
    """Hold a lease for the length of a block.

    If another holder has it, wait as `wait` says, then raise `LeaseHeld`. A machine whose clock is
    ahead gets none: `ClockAhead`.
    """
    require_clock(leases)
    held = HeldLease(_acquire(leases, name, holder, limit, wait or LeaseWait()))
    done = threading.Event()
    heartbeat = threading.Thread(
        target=_beat,
        args=(leases, held, done, limit / BEATS_PER_LIMIT),
        daemon=True,
        name=f"lease {name}",
    )
    heartbeat.start()
    try:
        yield held
    finally:
        done.set()
        heartbeat.join()
        _release(leases, held.lease)


def _acquire(leases: Leases, name: str, holder: str, limit: float, waiting: LeaseWait) -> Lease:
    deadline, told = time.monotonic() + waiting.seconds, False
    while True:
        try:
            return leases.acquire(name, holder=holder, limit=limit)
        except LeaseHeld as held:
            if time.monotonic() >= deadline:
                raise
            if not told:
                waiting.on_wait(held)
            told = True
        if waiting.stop.wait(_PAUSE):
            raise RunFailed("it was interrupted.")


def _release(leases: Leases, lease: Lease) -> None:
    """Release a lease.

    A failure is no error: the work under it is done, and the lease lapses by itself.
    """
    with suppress(LakebedError):
        retry(partial(leases.release, lease), attempts=_RELEASES)


def _beat(leases: Leases, held: HeldLease, done: threading.Event, pause: float) -> None:
    while not done.wait(pause):
        try:
            leases.renew(held.lease)
        except LeaseLost as loss:
            held.mark_lost(loss)
            return
        except LakebedError:
            # a store may answer again before the limit; if not, the next beat learns of the loss
            continue
