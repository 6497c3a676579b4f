"""How long PostgreSQL may take: what its server and its clients are told."""

import math
from typing import Any

CONNECT_SECONDS = 5
_GRACE = 1.2  # the server's own limit is reached first: its answer says more than a silence


def silence_limit(timeout: float) -> float:
    """Seconds after which a client gives a silent server up."""
    return timeout * _GRACE


def server_limits(timeout: float) -> str:
    """The option that sets a session's limits at the server.

    Statements are short, and wait for others at the most. A client that vanishes in mid-transaction must not keep its rows
    locked for the others.
    """
    limits = {"statement_timeout": timeout, "idle_in_transaction_session_timeout": 2 * timeout}
    return " ".join(f"-c {name}={_milliseconds(seconds)}" for name, seconds in limits.items())


def libpq_limits(timeout: float) -> dict[str, Any]:
    """For Python: also how libpq finds out that the machine at the other end is gone."""
    return {
        "connect_timeout": CONNECT_SECONDS,
        "options": server_limits(timeout),
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": _milliseconds(timeout),
    }


def jdbc_limits(timeout: float) -> dict[str, str]:
    """For Spark: the same in the words of PostgreSQL's JDBC driver."""
    return {
        "connectTimeout": str(CONNECT_SECONDS),
        "socketTimeout": str(math.ceil(silence_limit(timeout))),
        "tcpKeepAlive": "true",
        "options": server_limits(timeout),
    }


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
