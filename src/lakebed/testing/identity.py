"""The identity of a lake in memory."""

import threading
from collections.abc import Callable
from uuid import uuid4

from lakebed.ports import LakeIdentity


class MemoryIdentity:
    """A database that holds nothing but an identity."""

    where = "memory"
    is_in_root = False

    def __init__(self) -> None:
        self._new = True
        self._fingerprint = uuid4().hex
        self._stored: LakeIdentity | None = None
        self._lock = threading.Lock()

    def is_blank(self) -> bool:
        return True

    def prepare(self, *, before_first: Callable[[], None]) -> None:
        if self._new:
            before_first()
        self._new = False

    def fingerprint(self) -> str:
        return self._fingerprint

    def read(self) -> LakeIdentity | None:
        return self._stored

    def store(self, identity: LakeIdentity, *, instead_of: LakeIdentity | None) -> bool:
        with self._lock:
            if self._stored != instead_of:
                return False
            self._stored = identity
            return True
