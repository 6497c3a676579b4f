"""Untrusted SQL, run in a process of its own that can open the planned files and nothing else."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from threading import Timer
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lakebed.child_process import READY, send_job
from lakebed.engines.duckdb.untrusted.child_pool import ChildPool
from lakebed.errors import BadQuery, LakebedError, QueryEnded, RunFailed

if TYPE_CHECKING:
    import pyarrow as pa

# Starting Python and opening the files does not count as the query's time; a busy machine may be
# slow.
_PATIENCE = 60.0
_SMALLER = "Read less: fewer rows, fewer columns, a narrower WHERE."


@dataclass(frozen=True)
class UntrustedLimits:
    """The limits of one untrusted query."""

    rows: int = 100_000
    bytes: int = 256 * 1_048_576
    seconds: float = 30.0
    memory: int = 1_073_741_824
    threads: int = 2


@dataclass(frozen=True)
class SandboxInputs:
    """What the query may use: statements that create its tables, and the files and folders these
    read.
    """

    setup: tuple[str, ...]
    tables: tuple[tuple[str, ...], ...]
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


class ConfinedQuery:
    """A running query. Batches come as they are computed; leaving the `with` block ends it."""

    def __init__(
        self,
        sql: str,
        inputs: SandboxInputs,
        limits: UntrustedLimits | None = None,
        *,
        children: ChildPool | None = None,
    ) -> None:
        self.truncated = False  # known after the last batch
        self._limits = limits or UntrustedLimits()
        self._why, self._closed = "", False
        self._children = children or ChildPool(ready=0)
        self._child = self._children.take()
        self._timer = self._ending_after(_PATIENCE, "its process did not start.")
        send_job(
            self._child, json.dumps(asdict(inputs) | asdict(self._limits) | {"sql": sql}).encode()
        )

    def _ending_after(self, seconds: float, why: str) -> Timer:
        timer = Timer(seconds, self._end, (why,))
        timer.daemon = True
        timer.start()
        return timer

    def cancel(self) -> None:
        """End it now, from any thread."""
        self._end("it was cancelled.")

    def batches(self) -> "Iterator[pa.RecordBatch]":
        """The answer.

        Raises `BadQuery` for DuckDB's errors, `QueryEnded` if a limit was reached.
        """
        yield from self.reader()

    def reader(self) -> "pa.RecordBatchReader":
        """The answer as a reader, as soon as its schema is known."""
        import pyarrow as pa

        self._await()
        try:
            stream = pa.ipc.open_stream(self._child.stdout)
        except (pa.ArrowInvalid, OSError):  # it ended before it answered
            self._finish()
            raise QueryEnded(
                f"the query was ended: {self._why or 'its process died.'}", next=_SMALLER
            ) from None
        return pa.RecordBatchReader.from_batches(stream.schema, self._checked(stream))

    def _await(self) -> None:
        """Wait until the query begins, and measure its time from then on."""
        report = self._child.stdout.readline() if self._child.stdout else b""
        self._timer.cancel()
        if report == READY:
            self._timer = self._ending_after(
                self._limits.seconds, f"it took longer than {self._limits.seconds:g} s."
            )

    def _checked(self, stream: Any) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        try:
            yield from stream
        except (pa.ArrowInvalid, OSError):
            self._finish()
            raise QueryEnded(
                f"the query was ended: {self._why or 'its process died.'}", next=_SMALLER
            ) from None
        self._finish()

    def _end(self, why: str) -> None:
        if self._child.poll() is None:
            self._why = self._why or why
            self._child.kill()

    def _finish(self) -> None:
        """Read the child's status, and raise the error that it reports."""
        output = self._child.stderr.read().decode(errors="replace") if self._child.stderr else ""
        status = self._child.wait()
        self._timer.cancel()
        if self._why:
            raise QueryEnded(f"the query was ended: {self._why}", next=_SMALLER)
        report = _reported(output)
        if "truncated" in report:
            self.truncated = bool(report["truncated"])
            return
        raise _error(report, status, output, self._limits)

    def close(self) -> None:
        """End the query if it still runs."""
        if not self._closed:
            self._closed = True
            self._timer.cancel()
            self._children.end(self._child)

    def __enter__(self) -> "ConfinedQuery":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _reported(output: str) -> dict[str, Any]:
    for line in reversed(output.splitlines()):
        try:
            report = json.loads(line)
        except ValueError:
            continue
        if isinstance(report, dict):
            return report
    return {}


def _error(
    report: dict[str, Any], status: int, output: str, limits: UntrustedLimits
) -> LakebedError:
    """The error for a child without an answer; its status is trusted no more than the query is."""
    kind, what, next = (
        str(report.get("kind", "")),
        str(report.get("what", "")),
        str(report.get("next", "")),
    )
    if kind == "BadQuery":
        return BadQuery(what, next=next)
    if (
        kind in ("memory", "OutOfMemoryException", "MemoryError")
        or "bad_alloc" in output
        or "Out of Memory" in what
    ):
        return QueryEnded(
            f"the query was ended: it took more than {limits.memory >> 20} MiB of memory.",
            next=_SMALLER,
        )
    if kind:
        return BadQuery(f"the query failed: {_plain(what)}", next="Fix the query.")
    if status < 0:
        return QueryEnded(
            f"the query was ended: its process died (signal {-status}).", next=_SMALLER
        )
    return RunFailed(
        f"the process for queries could not start: {output.strip()[-500:]}",
        where=sys.executable,
        safe="",
    )


def _plain(what: str) -> str:
    """DuckDB's message without the excerpt of the statement."""
    return what.split("\n\nLINE ")[0].strip()
