"""Streams of rows as Parquet files, created in memory."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_SIZE = 64 * 1024 * 1024


def parquet_files(batches: Iterable[Any], schema: Any, *, size: int = _SIZE) -> Iterator[bytes]:
    """Files of about `size` bytes, one after the other; a single empty one if there are no rows."""
    rows, more = iter(batches), True
    while more:
        sink = pa.BufferOutputStream()
        with pq.ParquetWriter(sink, schema, store_schema=False) as writer:
            more = _filled(writer, sink, rows, size)
        yield sink.getvalue().to_pybytes()


def _filled(writer: Any, sink: Any, rows: Iterator[Any], size: int) -> bool:
    """Fill a file; whether there may be more rows."""
    for batch in rows:
        writer.write_batch(batch)
        if sink.tell() >= size:
            return True
    return False
