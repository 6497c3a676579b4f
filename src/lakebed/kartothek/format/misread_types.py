"""Columns that plateau reads wrongly, or cannot read, whatever we write."""

from collections.abc import Collection, Iterator
from typing import Any

import pyarrow as pa


def misread_columns(schema: Any, partition_keys: Collection[str]) -> Iterator[str]:
    """A sentence for each column of a table that plateau 4.6 misreads."""
    shifted = False
    for field in schema:
        name, type_, is_key = field.name, field.type, field.name in partition_keys
        if is_key and pa.types.is_boolean(type_):
            yield f"plateau reads every value of the partition key {name!r} as true (boolean)."
        if is_key and pa.types.is_timestamp(type_) and type_.tz is not None:
            yield f"plateau cannot read the partition key {name!r} (timestamp with a time zone)."
        if pa.types.is_decimal(type_):
            yield f"plateau cannot filter by {name!r} ({type_})."
        if not is_key and pa.types.is_timestamp(type_) and type_.tz is not None:
            yield f"plateau filters {name!r} by times without a zone only ({type_})."
        if pa.types.is_struct(type_) or pa.types.is_map(type_):
            shifted = True
            yield f"plateau cannot filter by columns after {name!r} ({type_})."
    if shifted:
        yield "plateau misjudges the types of columns that follow a nested one."
