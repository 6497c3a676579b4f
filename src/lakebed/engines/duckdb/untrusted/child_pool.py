"""Processes in which untrusted SQL runs: one for each query, started beforehand where another query is likely."""

import os
import subprocess
import sys
from pathlib import Path
from threading import Lock

_PROGRAM = "import sys; sys.path += sys.argv[1:]; from lakebed.engines.duckdb.untrusted.child import main; main()"
Child = subprocess.Popen[bytes]


class ChildPool:
    """Starting one takes most of a second, so after a second query `ready` of them wait for the next.

    A waiting one has read nothing yet. It ends by itself when this process does, for then nobody holds its input any more.
    """

    def __init__(self, *, ready: int) -> None:
        self._most, self._waiting, self._ended = ready, list[Child](), 0
        self._closed, self._lock = False, Lock()

    def take(self) -> Child:
        """One for a query; it is used for no other."""
        with self._lock:
            found = self._waiting.pop() if self._waiting else None
        if found is not None and found.poll() is None:
            return found
        if found is not None:
            _end(found)
        return _started()

    def end(self, child: Child) -> None:
        """End one, whatever it does; now there is time to start what the next query needs."""
        _end(child)
        with self._lock:
            self._ended += 1
            if self._ended > 1 and len(self._waiting) < self._most and not self._closed:
                self._waiting.append(_started())

    def close(self) -> None:
        """End those that wait; no further one is started beforehand."""
        with self._lock:
            self._closed, waiting, self._waiting = True, self._waiting, []
        for child in waiting:
            _end(child)


def _end(child: Child) -> None:
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream:
            stream.close()


def _started() -> Child:
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, *_roots()]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=_environment(), cwd="/")


def _roots() -> list[str]:
    """Where the child finds what it imports, however this process came to find it."""
    import duckdb
    import pyarrow as pa

    files = (Path(__file__).parents[3], Path(duckdb.__file__).parent, Path(pa.__file__).parent)
    return list(dict.fromkeys(str(file.parent) for file in files))


def _environment() -> dict[str, str]:
    """No secret reaches the child by its surroundings; where Python's own libraries lie must."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ} | {"TZ": "UTC"}
