"""The first phase of a write, done by executors: each writes data files of its rows."""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from lakebed.kartothek import PartitionSpec, WrittenRows, combined_rows, write_rows
from lakebed.kartothek.format.names import DEFAULT_TABLE
from lakebed.kartothek.format.schemas import table_schema
from lakebed.kartothek.writing.transport import dump_rows, load_rows
from lakebed.ports.files.files import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def write_frame(
    frame: "DataFrame",
    open_location: Callable[[], Files],
    spec: PartitionSpec,
    *,
    table: str = DEFAULT_TABLE,
) -> WrittenRows:
    """Write the rows of a frame as data files; `commit_rows` or `commit_new` makes them visible.

    `open_location` is called by every task, and must be picklable. A task that fails and is
    repeated leaves files that garbage collection removes; only those of the attempt that succeeded
    are in the result.
    """

    def write(batches: Iterable[Any]) -> Iterable[Any]:
        import pyarrow as pa

        rest = iter(batches)
        first = next(rest, None)
        if first is not None:
            rows = pa.RecordBatchReader.from_batches(first.schema, chain([first], rest))
            written = write_rows(open_location(), spec, rows, table=table)
            yield pa.record_batch({"written": pa.array([dump_rows(written)], pa.binary())})

    outcomes = frame.mapInArrow(write, "written binary").toArrow()
    written = combined_rows(load_rows(data) for data in outcomes["written"].to_pylist())
    if written.schemas:
        return written
    empty = frame.limit(0).toArrow().schema
    return WrittenRows((), {table: table_schema(empty, spec.partition_keys, strings=spec.strings)})
