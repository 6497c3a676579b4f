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
    return " ".join(f"-c {name}={value}" for name, value in _of_server(timeout).items())


def transaction_limits(timeout: float) -> str:
    """The statement that sets the same limits for one transaction."""
    calls = (
        f"set_config('{name}', '{value}', true)" for name, value in _of_server(timeout).items()
    )
    return f"SELECT {', '.join(calls)}"


def _of_server(timeout: float) -> dict[str, int]:
    seconds = {"statement_timeout": timeout, "idle_in_transaction_session_timeout": 2 * timeout}
    return {name: _milliseconds(value) for name, value in seconds.items()}


def libpq_limits(timeout: float, *, pooler: bool = False) -> dict[str, Any]:
    """For Python; libpq also detects that the server's machine is gone.

    A `pooler` takes no options: each transaction sets the server's limits then.
    """
    return {
        "connect_timeout": CONNECT_SECONDS,
        **({} if pooler else {"options": server_limits(timeout)}),
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": _milliseconds(timeout),
    }


def jdbc_limits(timeout: float, *, pooler: bool = False) -> dict[str, str]:
    """For Spark: the same limits as settings of PostgreSQL's JDBC driver.

    Behind a `pooler` only those of the client, and no statement is prepared: the next transaction
    may have another connection.
    """
    return {
        "connectTimeout": str(CONNECT_SECONDS),
        "socketTimeout": str(math.ceil(silence_limit(timeout))),
        "tcpKeepAlive": "true",
        **({"prepareThreshold": "0"} if pooler else {"options": server_limits(timeout)}),
    }


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
