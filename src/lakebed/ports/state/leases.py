"""Leases: one holder at a time, and a holder that stops renewing loses it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class Lease:
    """The right to change something.

    Each later holder has a larger `token`, which every commit checks.
    """

    name: str
    holder: str
    token: int


class Leases(Protocol):
    """Leases by name. The store's clock decides, so the clocks of machines need not agree."""

    def acquire(self, name: str, *, holder: str, limit: float) -> Lease:
        """Take a free lease, or one that was not renewed within its limit; `LeaseHeld`
        otherwise.
        """
        ...

    def renew(self, lease: Lease) -> None:
        """Extend the lease; `LeaseLost` if another holder has it now."""
        ...

    def release(self, lease: Lease) -> None:
        """Release the lease; one that was lost meanwhile stays with its new holder.

        If the store does not answer, the lease counts as released in this process.
        """
        ...

    def holder(self, name: str) -> Lease | None:
        """The current lease of this name, if it is held."""
        ...

    def store_time(self) -> datetime:
        """The time by the store's clock."""
        ...
