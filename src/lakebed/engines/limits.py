"""Timeouts for PostgreSQL, for the server and for its clients."""

import math
from typing import Any

CONNECT_SECONDS = 5
_GRACE = 1.2  # the server's own limit is reached first, and its error says more than a timeout


def silence_limit(timeout: float) -> float:
    """Seconds after which a client gives up on a silent server."""
    return timeout * _GRACE


def server_limits(timeout: float) -> str:
    """The connection option that sets a session's limits at the server.

    Statements are short and at most wait for each other. A client that disappears during a
    transaction must not keep its rows locked.
    """
    limits = {"statement_timeout": timeout, "idle_in_transaction_session_timeout": 2 * timeout}
    return " ".join(f"-c {name}={_milliseconds(seconds)}" for name, seconds in limits.items())


def libpq_limits(timeout: float) -> dict[str, Any]:
    """For Python; libpq also detects that the server's machine is gone."""
    return {
        "connect_timeout": CONNECT_SECONDS,
        "options": server_limits(timeout),
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": _milliseconds(timeout),
    }


def jdbc_limits(timeout: float) -> dict[str, str]:
    """For Spark: the same limits as settings of PostgreSQL's JDBC driver."""
    return {
        "connectTimeout": str(CONNECT_SECONDS),
        "socketTimeout": str(math.ceil(silence_limit(timeout))),
        "tcpKeepAlive": "true",
        "options": server_limits(timeout),
    }


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
