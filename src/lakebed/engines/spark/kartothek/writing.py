"""The first phase of a write, done by executors: each writes data files of its rows."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from lakebed.engines.spark.kartothek.outcomes import OUTCOME, collected, outcome
from lakebed.kartothek import PartitionSpec, WrittenRows, combined_rows, write_rows
from lakebed.kartothek.exchange.source import TableSource
from lakebed.kartothek.format.names import DEFAULT_TABLE
from lakebed.kartothek.format.schemas import table_schema
from lakebed.ports.files.files import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TASKS = 10_000


def write_frame(
    frame: "DataFrame",
    open_location: Callable[[], Files],
    spec: PartitionSpec,
    *,
    table: str = DEFAULT_TABLE,
    fields: Mapping[str, Any] | None = None,
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
            schema = _in_utc(first.schema)
            batches = (batch.cast(schema) for batch in chain([first], rest))
            rows = pa.RecordBatchReader.from_batches(schema, batches)
            yield outcome(
                0, lambda: write_rows(open_location(), spec, rows, table=table, fields=fields)
            )

    found = collected(frame.mapInArrow(write, OUTCOME), open_location)
    written = combined_rows(rows for _, rows in found)
    if written.schemas:
        return written
    empty = _in_utc(frame.limit(0).toArrow().schema)
    return WrittenRows((), {table: table_schema(empty, spec.partition_keys, strings=spec.strings)})


def _in_utc(schema: Any) -> Any:
    """Spark gives times with a zone that of the session; all writers of a dataset use the same."""
    import pyarrow as pa

    utc = pa.timestamp("us", tz="UTC")
    return pa.schema(
        [
            field.with_type(utc)
            if pa.types.is_timestamp(field.type) and field.type.tz is not None
            else field
            for field in schema
        ]
    )


def write_files(
    session: "SparkSession",
    open_source: Callable[[], TableSource],
    files: Mapping[str, Any],
    open_location: Callable[[], Files],
    spec: PartitionSpec,
) -> dict[str, WrittenRows]:
    """Write the rows of each file of a table as data files: a task reads a file and writes it."""
    keys, present = list(files), list(files.values())

    def written(location: Files, source: TableSource, number: int) -> WrittenRows:
        return write_rows(location, spec, source.rows(present[number]))

    def write(batches: Iterable[Any]) -> Iterable[Any]:
        location, source = open_location(), open_source()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield outcome(number, partial(written, location, source, number))

    numbers = session.range(0, len(keys), 1, max(1, min(len(keys), _TASKS)))
    found = collected(numbers.mapInArrow(write, OUTCOME), open_location)
    return {keys[number]: rows for number, rows in sorted(found, key=lambda one: one[0])}
