"""Whether a layout's columns are those of its table, and the rows of a table at a snapshot with its
present columns. Pure.

A layout has column ids of its own. Its property `SOURCE_COLUMNS` says which column of its table
each one is: a column that was dropped and added again has the same name, and other values.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Literal

from lakebed.derived.identity import Layout
from lakebed.errors import UsageError
from lakebed.names import TableName, spark_identifier
from lakebed.ports import Column, TableMetadata
from lakebed.tables import at_snapshot
from lakebed.types import read_iceberg_type

SOURCE_COLUMNS = "lakebed.source-columns"  # property of a layout: its table's column ids by name

Fit = Literal["same", "lacks", "other"]


def column_ids(columns: Iterable[Column]) -> str:
    """The value of the property `SOURCE_COLUMNS`."""
    return json.dumps({column.name: column.id for column in columns})


def _known_ids(layout: Layout) -> dict[str, int]:
    try:
        found = json.loads(layout.metadata.properties.get(SOURCE_COLUMNS, ""))
        return {str(name): int(id_) for name, id_ in found.items()}
    except (ValueError, AttributeError, TypeError):
        return {}


def missing_columns(layout: Layout, source: TableMetadata) -> tuple[Column, ...]:
    """Columns of the table that its layout lacks."""
    known = _known_ids(layout)
    return tuple(column for column in source.columns if column.name not in known)


def fit_of(layout: Layout, source: TableMetadata) -> Fit:
    """Whether the layout can hold the table's rows as it is, after columns are added that are NULL
    in all rows so far, or not.
    """
    ids, types = _known_ids(layout), {one.name: one.type for one in layout.metadata.columns}
    present = {column.name: column for column in source.columns}
    if not ids or not ids.keys() <= present.keys() or not types.keys() <= present.keys():
        return "other"
    if any(present[name].id != id_ for name, id_ in ids.items()):
        return "other"
    if any(not same_type(present[name].type, type_) for name, type_ in types.items()):
        return "other"
    lacking = [column for name, column in present.items() if name not in ids or name not in types]
    if any(column.required or column.default is not None for column in lacking):
        return "other"
    return "lacks" if lacking else "same"


def same_type(one: str, other: str) -> bool:
    """Whether two types hold the same values, whatever the ids of their parts."""
    return read_iceberg_type(one) == read_iceberg_type(other)


def column_definitions(columns: Iterable[Column]) -> str:
    """Columns for CREATE TABLE and ADD COLUMNS; all may be NULL."""
    return ", ".join(f"{spark_identifier(one.name)} {_spark_type(one)}" for one in columns)


def _spark_type(column: Column) -> str:
    return read_iceberg_type(column.type).spark


def rows_query(table: TableName, source: TableMetadata, snapshot: int, *, where: str = "") -> str:
    """The rows of a table at a snapshot, with the columns that it has now. Spark reads a snapshot
    with the columns of its time.
    """
    listed = ", ".join(_selected(table, source, snapshot))
    rows = f"SELECT {listed} FROM {at_snapshot(table, snapshot)}"
    # without a name for the rows, Spark may read WHERE (…) as one, with its columns
    return f"SELECT * FROM ({rows}) AS t WHERE {where}" if where else rows


def _selected(table: TableName, source: TableMetadata, snapshot: int) -> Iterator[str]:
    then = {column.id: column for column in source.columns_at(source.snapshots[snapshot])}
    for column in source.columns:
        name, former = spark_identifier(column.name), then.get(column.id)
        if former is None and column.default is not None:
            raise UsageError(
                f"{table} has gained the column {column.name} with a default since its last"
                " snapshot, which cannot be read with it.",
                next="Build its layouts after the next run.",
            )
        value = "NULL" if former is None else spark_identifier(former.name)
        if former is None or not same_type(former.type, column.type):
            value = f"CAST({value} AS {_spark_type(column)})"
        yield f"{value} AS {name}"
