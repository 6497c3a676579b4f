"""Leases in memory."""

import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lakebed.errors import LeaseHeld, LeaseLost
from lakebed.ports import Lease


@dataclass
class _Row:
    holder: str | None
    token: int
    limit: float
    heartbeat: float


class MemoryLeases:
    """Leases in a dictionary; the store's clock differs from this machine's by `clock_offset`."""

    def __init__(self, *, clock_offset: timedelta = timedelta()) -> None:
        self._clock_offset = clock_offset
        self._rows: dict[str, _Row] = {}
        self._lock = threading.Lock()

    def acquire(self, name: str, *, holder: str, limit: float) -> Lease:
        with self._lock:
            row, now = self._rows.get(name), time.monotonic()
            if row and row.holder is not None and row.heartbeat + row.limit >= now:
                raise LeaseHeld(name, row.holder, now - row.heartbeat, row.limit)
            token = row.token + 1 if row else 1
            self._rows[name] = _Row(holder, token, limit, now)
            return Lease(name, holder, token)

    def renew(self, lease: Lease) -> None:
        with self._lock:
            self.fence(lease)
            self._rows[lease.name].heartbeat = time.monotonic()

    def release(self, lease: Lease) -> None:
        with self._lock:
            row = self._rows.get(lease.name)
            if row and row.token == lease.token:
                row.holder = None

    def holder(self, name: str) -> Lease | None:
        row = self._rows.get(name)
        if row is None or row.holder is None or row.heartbeat + row.limit < time.monotonic():
            return None
        return Lease(name, row.holder, row.token)

    def store_time(self) -> datetime:
        return datetime.now(UTC) + self._clock_offset

    def fence(self, lease: Lease) -> None:
        """`LeaseLost` unless this lease is still held."""
        row = self._rows.get(lease.name)
        if row is None or row.token != lease.token or row.holder is None:
            raise LeaseLost(lease.name, (row.holder or "") if row else "")
