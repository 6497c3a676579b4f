"""Frames with given columns."""

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from lakebed.ports import Field

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def conform(frame: "DataFrame", fields: Sequence[Field]) -> "DataFrame":
    """The frame with exactly these columns: cast where types differ, NULL where a column is
    missing.
    """
    from pyspark.sql import functions as f

    present = {column.casefold(): column for column in frame.columns}

    def column(field: Field) -> "Column":
        name = present.get(field.name.casefold())
        found = frame[_quoted(name)] if name else f.lit(None)
        return found.cast(field.type).alias(field.name)

    return frame.select(*(column(field) for field in fields))


def union(frames: "Sequence[DataFrame]") -> "DataFrame":
    """The rows of all frames; columns are matched by name, and NULL where a frame lacks them."""
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"
