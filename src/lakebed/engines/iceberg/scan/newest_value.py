"""The largest value of a column in a snapshot, from the statistics in its manifests."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow.compute as pc
from pyiceberg.conversions import from_bytes
from pyiceberg.io import load_file_io
from pyiceberg.manifest import DataFile
from pyiceberg.table import StaticTable
from pyiceberg.types import (
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    PrimitiveType,
    StringType,
    TimestampType,
    TimestamptzType,
)
from pyiceberg.utils.datetime import days_to_date, micros_to_timestamp, micros_to_timestamptz

from lakebed.engines.iceberg.metadata.documents import static_table
from lakebed.errors import UnknownName, UsageError

_EXACT = (IntegerType, LongType, DateType, TimestampType, TimestamptzType, DecimalType)
_SPELT: dict[type[IcebergType], Callable[[int], Any]] = {
    DateType: days_to_date,
    TimestampType: micros_to_timestamp,
    TimestamptzType: micros_to_timestamptz,
}
_ORDERED = (*_EXACT, FloatType, DoubleType, StringType)


def newest_value(
    location: str, *, snapshot: int, column: str, properties: Mapping[str, str]
) -> Any:
    """The largest value, as a Python value of the column's type; timestamps with a zone
    are in UTC.
    """
    table = static_table(location, properties)
    field = _field(table, column)
    if isinstance(field.field_type, _EXACT):
        bounds = list(_bounds(table, snapshot, field))
        if None not in bounds:
            known = [value for value in bounds if value is not _ALL_NULL]
            return _spelt(field.field_type, max(known)) if known else None
    return _scanned(table, snapshot, field.name)


def _field(table: StaticTable, column: str) -> NestedField:
    fields = {field.name: field for field in table.schema().fields}
    folded = {name.casefold(): name for name in fields}
    if column.casefold() not in folded:
        raise UnknownName("column", column, fields)
    field = fields[folded[column.casefold()]]
    if not isinstance(field.field_type, _ORDERED):
        raise UsageError(
            f"the column {column} is of type {field.field_type}, which cannot be ordered."
        )
    return field


_ALL_NULL = object()


def _bounds(table: StaticTable, snapshot: int, field: NestedField) -> Iterator[Any]:
    """The upper bound of every file; `_ALL_NULL` if it has only NULLs, None if it is unknown."""
    found = table.snapshot_by_id(snapshot)
    io = load_file_io(table.io.properties, table.metadata_location)
    for manifest in found.manifests(io) if found else ():
        for entry in manifest.fetch_manifest_entry(io, discard_deleted=True):
            yield _bound(entry.data_file, field)


def _bound(file: DataFile, field: NestedField) -> Any:
    upper = (file.upper_bounds or {}).get(field.field_id)
    if upper is not None and isinstance(field.field_type, PrimitiveType):
        return from_bytes(field.field_type, upper)
    nulls = (file.null_value_counts or {}).get(field.field_id)
    # Without a count the file may be older than the column, or its statistics may not include it.
    return _ALL_NULL if nulls == file.record_count or file.record_count == 0 else None


def _spelt(kind: IcebergType, value: Any) -> Any:
    spell = _SPELT.get(type(kind))
    return spell(value) if spell else value


def _scanned(table: StaticTable, snapshot: int, column: str) -> Any:
    """Scan batch by batch: statistics truncate strings and ignore NaN.

    NaN is skipped: nothing would ever be newer.
    """
    newest = None
    for batch in table.scan(
        snapshot_id=snapshot, selected_fields=(column,)
    ).to_arrow_batch_reader():
        value = pc.max(batch.column(0)).as_py()
        if value is not None and value == value and (newest is None or value > newest):
            newest = value
    return newest
