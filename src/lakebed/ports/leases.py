"""What we ask of a store of leases: one holder at a time, known to have lost it when it fell silent."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Lease:
    """The right to work on something. A later holder always has a larger `token`: whoever commits shows it."""

    name: str
    holder: str
    token: int


class Leases(Protocol):
    """Leases by name; time is the store's own, so that clocks of machines do not matter."""

    def acquire(self, name: str, *, holder: str, limit: float) -> Lease:
        """Take a free lease, or one whose holder was silent for longer than its limit; `LeaseHeld` otherwise."""
        ...

    def renew(self, lease: Lease) -> None:
        """A sign of life; `LeaseLost` if somebody else has it now."""
        ...

    def release(self, lease: Lease) -> None:
        """Give it back; one that was lost meanwhile is left to its new holder.

        If the store does not answer, the lease is over all the same: who acquires it here next does not meet it.
        """
        ...

    def holder(self, name: str) -> Lease | None:
        """Who holds it now."""
        ...
