"""Connections to PostgreSQL with a timeout: a server that stops answering counts as unreachable."""

import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

T = TypeVar("T")


class SilentServer(psycopg.OperationalError):
    """The server did not answer in time; it may have carried out the request nevertheless."""


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that times out, even if a broken network never reports an error."""

    silence: float | None = None  # seconds; None: without limit

    def wait(self, gen: PQGen[T], *given: Any, **options: Any) -> T:
        if self.silence is None:
            return super().wait(gen, *given, **options)
        try:
            return super().wait(_heard(gen, self.silence), *given, **options)
        except SilentServer:
            self.pgconn.finish()  # not usable again: the answer may still arrive
            raise


def _heard(answer: PQGen[T], silence: float) -> Generator[Any, Any, T]:
    """The same exchange, which fails after this many seconds without traffic; a long answer may
    arrive slowly.
    """
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
    """A new connection; connecting has its own timeout."""
    connection = LimitedConnection.connect(**parameters)
    connection.silence = silence
    return connection
