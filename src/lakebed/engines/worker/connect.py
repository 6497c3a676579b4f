"""Connecting to a worker, and starting one."""

import os
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from lakebed.engines.worker.digest import lasting
from lakebed.engines.worker.messages import is_own, receive, send
from lakebed.engines.worker.places import WorkerPlace
from lakebed.errors import WorkerUnavailable

PATIENCE = 30.0  # seconds in which a worker must have started
PROMPT = 20.0  # seconds in which a running one must have answered
SUPPORTED = hasattr(socket, "SO_PEERCRED") and hasattr(os, "sched_getaffinity")


def connect(place: WorkerPlace) -> socket.socket | None:
    """A connection to the worker; None if there is none, or it died."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(place.socket))
    except (FileNotFoundError, ConnectionError):
        connection.close()
        return None
    if not is_own(connection):
        connection.close()
        raise WorkerUnavailable("its socket belongs to another user")
    return connection


def connect_or_start(
    place: WorkerPlace, about: Mapping[str, Any], environment: Mapping[str, str]
) -> socket.socket:
    """A connection to the worker, which is started if there is none."""
    deadline = time.monotonic() + PATIENCE
    while (connection := connect(place)) is None:  # a former one may just be ending
        if time.monotonic() > deadline:
            raise WorkerUnavailable(f"it did not start within {PATIENCE:.0f} s; {_log(place)}")
        _start(place, about, environment)
    return connection


def send_or_start(
    message: Mapping[str, Any],
    place: WorkerPlace,
    about: Mapping[str, Any],
    environment: Mapping[str, str],
) -> socket.socket:
    """The connection by which a worker has accepted the message; it is started if there is none."""
    deadline = time.monotonic() + PROMPT
    while time.monotonic() < deadline:  # one that is just ending accepts nothing
        connection = connect_or_start(place, about, environment)
        with suppress(OSError):
            send(connection, dict(message))
            if accepted(connection):
                return connection
        connection.close()
    raise WorkerUnavailable(f"it does not answer; {_log(place)}")


def accepted(connection: socket.socket) -> bool:
    """Whether the worker takes what it was just sent. One that answers too late does not take it
    any more.
    """
    connection.settimeout(PROMPT)
    answer = receive(connection)
    if answer is None:
        with suppress(OSError):  # from here on its answer is refused, unless it has come just now
            connection.shutdown(socket.SHUT_RD)
        answer = receive(connection)
    connection.settimeout(None)
    return answer is not None and "accepted" in answer[0]


def _start(place: WorkerPlace, about: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Start a worker, and wait until it listens. It is not a child of this process."""
    import json
    import subprocess

    command = (sys.executable, "-P", "-m", "lakebed.worker", str(place.folder), place.digest)
    with os.fdopen(os.open(place.log, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)) as log:
        done = subprocess.run(
            (*command, json.dumps(dict(about))),
            env=lasting(environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            check=False,
        )
    if done.returncode:
        raise WorkerUnavailable(f"it did not start; {_log(place)}")


def _log(place: WorkerPlace) -> str:
    return f"its log: {place.log}"


def ask(place: WorkerPlace, question: str) -> dict[str, Any] | None:
    """A worker's answer to `status` or `stop`; None if it is dead or does not answer."""
    connection = connect(place)
    if connection is None:
        return None
    connection.settimeout(PROMPT)
    with connection, suppress(OSError):  # it has just ended
        send(connection, {"kind": question})
        if answer := receive(connection):
            return answer[0]
    return None
