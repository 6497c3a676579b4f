"""The process in which untrusted SQL runs: a JSON job in, an Arrow stream out, a JSON status on
standard error at the end.

DuckDB stops a query only between two pieces of work, and does not count all of its memory:
`levenshtein` of two long texts ran for a minute after it was interrupted, `repeat` took 4 GB with a
limit of 200 MB. A process can be killed at any time, the system limits its memory, and its end
affects nobody else.
"""

import json
import os
import resource
import sys
from bisect import bisect_right
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lakebed.child_process import forbid_writing, say_ready
from lakebed.engines.duckdb.sql.types import text
from lakebed.errors import LakebedError
from lakebed.query.guard.duckdb_guard import check_duckdb_tree

if TYPE_CHECKING:
    import duckdb

OVERHEAD = 768 * 1_048_576  # Python, Arrow and DuckDB themselves, before any data
BATCH = 8192
LONGEST_MESSAGE = 2000
# DuckDB's settings when it opens; none of them can be changed later.
OPENING: dict[str, Any] = {
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "allow_unsigned_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "python_scan_all_frames": "false",
}


def main() -> None:
    """Answer the one job on standard input."""
    import pyarrow as pa  # noqa: F401 - before there is a job: it may be a while until there is one

    status: dict[str, Any] = {}
    try:
        status = _answer(json.load(sys.stdin.buffer))
    except LakebedError as error:
        status = {"kind": type(error).__name__, "what": error.what, "next": error.next}
    except MemoryError:
        status = {"kind": "memory", "what": "", "next": ""}
    except Exception as error:
        status = {"kind": type(error).__name__, "what": str(error)[:LONGEST_MESSAGE], "next": ""}
    with suppress(OSError):
        sys.stdout.buffer.flush()
        sys.stderr.write("\n" + json.dumps(status) + "\n")
        sys.stderr.flush()
    os._exit(0)  # nothing is shared, and closing takes longer than most queries


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    import pyarrow as pa

    connection = locked(job)
    _limit(job)
    say_ready()  # from here on its time counts
    # The text is not bound as a parameter: that loads pandas, which takes longer than everything
    # else.
    reading = connection.execute(f"SELECT json_serialize_sql({text(job['sql'])})").fetchone()
    check_duckdb_tree(
        json.loads(reading[0] if reading else "{}"), [tuple(parts) for parts in job["tables"]]
    )
    batches = connection.execute(job["sql"]).to_arrow_reader(BATCH)
    with pa.ipc.new_stream(sys.stdout.buffer, batches.schema) as out:
        return {"truncated": _sent(batches, out, rows=job["rows"], size=job["bytes"])}


def _sent(batches: Any, out: Any, *, rows: int, size: int) -> bool:
    """Send batches up to the limits; whether rows were left out.

    Each batch is measured first: it may exceed them alone.
    """
    for batch in batches:
        count = fitting(batch, rows=rows, size=size)
        part = batch.slice(0, count)
        if count:
            out.write_batch(part)
            sys.stdout.buffer.flush()
        if count < batch.num_rows:
            return True
        rows, size = rows - count, size - part.nbytes
    return False


def fitting(batch: Any, *, rows: int, size: int) -> int:
    """How many of a batch's first rows are within these rows and bytes."""
    most: int = min(rows, batch.num_rows)
    if batch.slice(0, most).nbytes <= size:
        return most
    return bisect_right(range(most), size, key=lambda count: batch.slice(0, count + 1).nbytes)


def locked(job: dict[str, Any]) -> "duckdb.DuckDBPyConnection":
    """A connection that has the job's tables, can open their files and nothing else.

    This cannot be undone.
    """
    import duckdb

    connection = duckdb.connect(":memory:", config=OPENING)
    for statement in job["setup"]:
        connection.execute(statement)
    for statement in locking(job):
        connection.execute(statement)
    return connection


def locking(job: dict[str, Any]) -> tuple[str, ...]:
    """The statements that lock a connection after its setup."""
    return (
        f"SET allowed_paths = {_texts(job['files'])}",
        f"SET allowed_directories = {_texts(job['folders'])}",
        f"SET memory_limit = '{int(job['memory'])}B'",
        f"SET threads = {int(job['threads'])}",
        "SET temp_directory = ''",
        "SET max_temp_directory_size = '0B'",
        "SET max_expression_depth = 250",
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    )


def _texts(values: list[str]) -> str:
    return "[" + ", ".join(map(text, values)) + "]"


def _limit(job: dict[str, Any]) -> None:
    forbid_writing()
    for kind, most in (
        (resource.RLIMIT_CPU, int(job["seconds"] * job["threads"]) + 5),
        (resource.RLIMIT_DATA, int(job["memory"]) + OVERHEAD),
    ):
        with suppress(ValueError, OSError):  # macOS has no memory limit; there DuckDB's own remains
            resource.setrlimit(kind, (most, most))
