"""A LazyFrame whose rows are read when it is collected, each time from the same files."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from lakebed.engines.polars.expressions import split_filter
from lakebed.ports import Predicate, ScanColumn

Batches = Callable[[tuple[str, ...], Predicate | None, int | None, int | None], Iterable[Any]]


def lazy_frame(schema: Any, columns: tuple[ScanColumn, ...], batches: Batches) -> pl.LazyFrame:
    """A frame over Arrow batches of this schema.

    `batches` takes columns, a predicate that filters early, a limit and a batch size. Polars' whole
    expression is applied to every batch afterwards, so what cannot be a predicate is not lost.
    """
    types = frame_schema(schema)

    def read(
        names: list[str] | None, expression: pl.Expr | None, limit: int | None, rows: int | None
    ) -> Iterator[pl.DataFrame]:
        predicate, whole = (
            split_filter(expression, columns) if expression is not None else (None, None)
        )
        wanted = tuple(types) if names is None else tuple(names)
        needed = tuple(
            dict.fromkeys((*wanted, *(whole.meta.root_names() if whole is not None else ())))
        )
        left = limit
        for batch in batches(needed, predicate, limit if whole is None else None, rows):
            frame = _frame(batch, needed, types)
            frame = (frame if whole is None else frame.filter(whole)).select(wanted)
            frame = frame if left is None else frame.head(left)
            yield frame
            left = None if left is None else left - frame.height
            if left == 0:
                return

    return register_io_source(read, schema=types, is_pure=True)


def frame_schema(schema: Any) -> pl.Schema:
    """Polars' types for Arrow's."""
    return _from_arrow(schema.empty_table()).schema


def _frame(batch: Any, names: Iterable[str], types: pl.Schema) -> pl.DataFrame:
    frame = _from_arrow(batch)
    return (
        frame
        if all(frame.schema[name] == types[name] for name in names)
        else frame.cast({name: types[name] for name in names})
    )


def _from_arrow(rows: Any) -> pl.DataFrame:
    """A DataFrame; UUIDs are their 16 bytes, because Polars has no type for them."""
    import pyarrow as pa

    table = pa.table(rows) if not isinstance(rows, pa.Table) else rows
    for index, field in enumerate(table.schema):
        if isinstance(field.type, pa.UuidType):
            table = table.set_column(
                index, field.name, table.column(index).cast(pa.binary(16)).cast(pa.binary())
            )
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - for the type checker
    return frame
