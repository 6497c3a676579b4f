"""Processes in which untrusted SQL runs: one for each query, started in advance when another query
is likely.
"""

from threading import Lock

from lakebed.child_process import ChildProcess, program_of, start_child

_PROGRAM = program_of("lakebed.engines.duckdb.untrusted.child")


class ChildPool:
    """Children for untrusted queries.

    Starting one takes most of a second, so from the second query on `ready` of them wait.

    A waiting child has read nothing yet. It ends by itself when this process does, because its
    input is closed then.
    """

    def __init__(self, *, ready: int) -> None:
        self._most, self._waiting, self._ended = ready, list[ChildProcess](), 0
        self._closed, self._lock = False, Lock()

    def take(self) -> ChildProcess:
        """A child for one query, and no other."""
        with self._lock:
            found = self._waiting.pop() if self._waiting else None
        if found is not None and found.poll() is None:
            return found
        if found is not None:
            _end(found)
        return _start()

    def end(self, child: ChildProcess) -> None:
        """End a child, whatever it does, and start one for the next query."""
        _end(child)
        with self._lock:
            self._ended += 1
            if self._ended > 1 and len(self._waiting) < self._most and not self._closed:
                self._waiting.append(_start())

    def close(self) -> None:
        """End the children that wait; no more are started in advance."""
        with self._lock:
            self._closed, waiting, self._waiting = True, self._waiting, []
        for child in waiting:
            _end(child)


def _end(child: ChildProcess) -> None:
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream:
            stream.close()


def _start() -> ChildProcess:
    import duckdb
    import pyarrow as pa

    return start_child(_PROGRAM, (duckdb, pa), environment={"TZ": "UTC"})
