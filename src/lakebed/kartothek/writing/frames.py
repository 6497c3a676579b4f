"""Rows from outside as Arrow tables, one for each partition to be written."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from lakebed.errors import BadBatch

PARTITION_BYTES = 128 * 1024 * 1024


def frames(rows: Any) -> Iterator[Mapping[str, Any] | Any]:
    """The frames of what was given: one frame, a stream of batches, or an iterable of frames.

    A stream is cut into tables of about 128 MiB. A mapping holds a frame for each table of the
    dataset, and stays one.
    """
    if isinstance(rows, pa.RecordBatchReader):
        yield from _cut(rows)
    elif isinstance(rows, Mapping):
        yield {name: arrow_table(frame) for name, frame in rows.items()}
    elif _is_frame(rows):
        yield arrow_table(rows)
    elif isinstance(rows, Iterable) and not isinstance(rows, str | bytes):
        for part in rows:
            yield from frames(part) if part is not None else ()
    else:
        raise BadBatch(f"rows cannot be read from {type(rows).__name__}.")


def arrow_table(frame: Any) -> Any:
    """A frame of pandas, Arrow, Polars, DuckDB … as an Arrow table, without dictionaries."""
    if not _is_frame(frame):
        raise BadBatch(f"rows cannot be read from {type(frame).__name__}.")
    try:
        is_pandas = type(frame).__module__.split(".")[0] == "pandas"
        found = pa.Table.from_pandas(frame, preserve_index=False) if is_pandas else pa.table(frame)
        return _plain(found)
    except (pa.ArrowException, ValueError, TypeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise BadBatch(f"the frame cannot be read as Arrow: {reason}") from error


def _is_frame(rows: Any) -> bool:
    return hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__")


def _cut(reader: Any) -> Iterator[Any]:
    batches: list[Any] = []
    for batch in reader:
        batches.append(batch)
        if sum(one.nbytes for one in batches) >= PARTITION_BYTES:
            yield _plain(pa.Table.from_batches(batches, reader.schema))
            batches = []
    if batches:
        yield _plain(pa.Table.from_batches(batches, reader.schema))


def _plain(table: Any) -> Any:
    """The table with values in place of dictionaries, and without metadata."""
    fields = [
        pa.field(one.name, one.type.value_type if pa.types.is_dictionary(one.type) else one.type)
        for one in table.schema
    ]
    return table.cast(pa.schema(fields))
