"""Connections to PostgreSQL that do not wait for ever: a server that falls silent counts as unreachable."""

import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

T = TypeVar("T")


class SilentServer(psycopg.OperationalError):
    """The server sent nothing for too long; what it was asked may have been done all the same."""


class LimitedConnection(psycopg.Connection[Any]):
    """A connection on which a silence has an end, also where a broken network never says that it is broken."""

    silence: float | None = None  # seconds; None: without limit

    def wait(self, gen: PQGen[T], *given: Any, **options: Any) -> T:
        if self.silence is None:
            return super().wait(gen, *given, **options)
        try:
            return super().wait(_heard(gen, self.silence), *given, **options)
        except SilentServer:
            self.pgconn.finish()  # nobody may use it again: the answer may still come
            raise


def _heard(answer: PQGen[T], silence: float) -> Generator[Any, Any, T]:
    """The same exchange, given up after so many seconds in which nothing came or went. A slow, long answer is none of these."""
    heard = time.monotonic()
    try:
        wanted = next(answer)
        while True:
            ready = yield wanted
            if ready:
                heard = time.monotonic()
            elif time.monotonic() - heard > silence:
                raise SilentServer(f"no answer within {silence:g} s")
            wanted = answer.send(ready)
    except StopIteration as done:
        result: T = done.value
        return result


def connected(parameters: dict[str, Any], *, silence: float) -> LimitedConnection:
    """A new connection; connecting has a limit of its own."""
    connection = LimitedConnection.connect(**parameters)
    connection.silence = silence
    return connection
