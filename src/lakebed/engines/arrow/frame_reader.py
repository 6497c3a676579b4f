"""Frames of other libraries as streams of Arrow batches, with no more in memory than their library
needs.
"""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from lakebed.errors import BadBatch


def frame_reader(frame: Any) -> Any:
    """A `pyarrow.RecordBatchReader` over the rows of a frame; None for anything else.

    Accepts pandas, Polars (also lazy), Arrow's tables, batches, readers and datasets, and
    everything with Arrow's PyCapsule interface: DuckDB's relations, lazy tables, query results,
    frames of other libraries.
    """
    library, kind = type(frame).__module__.split(".")[0], type(frame).__name__
    try:
        if library == "pandas":
            return _of_pandas(frame) if kind == "DataFrame" else None
        if library == "polars" and kind == "LazyFrame":
            return _of_lazy(frame)
        if hasattr(frame, "scanner"):
            return frame.scanner().to_reader()
        return _of_stream(frame) if hasattr(frame, "__arrow_c_stream__") else None
    except pa.ArrowException as error:
        raise unreadable_frame(str(error)) from error


def unreadable_frame(reason: str) -> BadBatch:
    """The error for a frame that its library cannot export."""
    return BadBatch(
        f"the frame cannot be read as Arrow: {reason.strip().splitlines()[0].rstrip('.')}.",
        safe="Nothing was written.",
        next="Cast or leave out the column in the frame.",
    )


def _of_stream(frame: Any) -> Any:
    if "BIT" in (types := [str(type_) for type_ in getattr(frame, "types", ())]):
        raise unreadable_frame(
            f"the column {frame.columns[types.index('BIT')]!r} is of DuckDB's type BIT, which Arrow"
            " does not have"
        )
    try:
        return pa.RecordBatchReader.from_stream(frame)
    except pa.ArrowInvalid as error:
        names = getattr(frame, "columns", ())
        if len(names) > 1 and hasattr(frame, "select"):
            for name in names:
                _of_stream(frame.select(name))
        raise unreadable_frame(
            f"{', '.join(map(repr, names))}: {error}" if names else str(error)
        ) from error


def _of_lazy(frame: Any) -> Any:
    if not hasattr(frame, "collect_batches"):  # Polars before 1.34
        return _of_stream(frame.collect())
    schema = _of_stream(frame.clear().collect()).schema
    batches = (batch for part in frame.collect_batches() for batch in _of_stream(part))
    return pa.RecordBatchReader.from_batches(schema, batches)


def _of_pandas(frame: Any) -> Any:
    """The frame without its index.

    What pandas considers missing is NULL, also NaN in its own float columns.
    """
    for number, column in enumerate(frame.columns):
        if frame.dtypes.iloc[number].kind == "O":
            _refuse_mixed_times(frame.iloc[:, number], column)
    try:
        return pa.Table.from_pandas(frame, preserve_index=False).to_reader()
    except (ValueError, TypeError, OverflowError, NotImplementedError) as error:
        raise unreadable_frame("; ".join(map(str, reversed(error.args)))) from error


def _refuse_mixed_times(values: Iterable[Any], column: Any) -> None:
    """Raise for mixed kinds of times: Arrow would drop the time of day, or take a time without a
    zone as UTC.
    """
    kinds = {
        _kind(value) for value in values if isinstance(value, date) and value == value
    }  # NaT is not equal to itself
    if len(kinds) > 1:
        raise unreadable_frame(f"the column {str(column)!r} mixes {' and '.join(sorted(kinds))}")


def _kind(value: date) -> str:
    if not isinstance(value, datetime):
        return "dates"
    return "times with a zone" if value.tzinfo else "times without a zone"
