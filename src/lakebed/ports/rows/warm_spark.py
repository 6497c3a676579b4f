"""A Spark that is running already, in another process of the same user."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class LentSpark:
    """How to reach a borrowed Spark. Its jobs carry the tag `name`, and end when `loan` is closed;
    when the lender ends, `loan` can be read.
    """

    port: int
    secret: str
    name: str
    log: str
    loan: socket.socket


class WarmSpark(Protocol):
    """Lends a running Spark."""

    def borrow(self, request: Mapping[str, Any]) -> LentSpark | None:
        """A Spark that was started as `request` says; None if there is none to be had, which has
        been reported: the caller starts its own.
        """
        ...
