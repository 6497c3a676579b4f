"""What tasks wrote, sent to the process that commits; the rows themselves stay in their files."""

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakebed.engines.spark.failures import as_failure
from lakebed.errors import LakebedError, RunFailed
from lakebed.kartothek import WrittenRows
from lakebed.kartothek.writing.partition_files import discard
from lakebed.kartothek.writing.transport import dump_rows, load_rows
from lakebed.ports.files.files import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OUTCOME = "number bigint, written binary, error binary"


def outcome(number: int, write: Callable[[], WrittenRows]) -> Any:
    """A batch with what was written, or with Lakebed's error: Spark would send only its text."""
    import pyarrow as pa

    written, error = None, None
    try:
        written = dump_rows(write())
    except LakebedError as failure:
        error = pickle.dumps(failure)
    return pa.record_batch(
        {
            "number": pa.array([number], pa.int64()),
            "written": pa.array([written], pa.binary()),
            "error": pa.array([error], pa.binary()),
        }
    )


def collected(
    outcomes: "DataFrame", open_location: Callable[[], Files]
) -> list[tuple[int, WrittenRows]]:
    """What all tasks wrote; if one could not, nothing stays, and its error is raised.

    After the death of an executor, files of the others stay until garbage is collected.
    """
    try:
        found = outcomes.toArrow().to_pylist()
    except Exception as error:
        raise _failed(as_failure(error)) from error
    written = [(one["number"], load_rows(one["written"])) for one in found if one["written"]]
    errors = [one["error"] for one in found if one["error"]]
    if errors:
        discard(open_location(), [part for _, rows in written for part in rows.partitions])
        raise pickle.loads(errors[0])  # noqa: S301 - by our own tasks
    return written


def _failed(error: LakebedError) -> RunFailed:
    return RunFailed(
        f"Spark's executors could not write the data files: {error.what}",
        where=error.where,
        safe="Nothing was committed.",
        next=error.next,
    )
