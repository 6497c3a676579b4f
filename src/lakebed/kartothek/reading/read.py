"""Reading a dataset as Arrow or pandas."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import pyarrow as pa

from lakebed.errors import UnknownName
from lakebed.kartothek.format.column_types import beyond_nanoseconds
from lakebed.kartothek.format.pandas_metadata import nullable_dtype
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.history.versions import state_at
from lakebed.kartothek.predicates.conditions import parse_predicates, predicate_columns
from lakebed.kartothek.reading.data_files import read_partition
from lakebed.kartothek.reading.index_reader import StateIndices
from lakebed.kartothek.reading.plan import PartitionRead, plan_partitions
from lakebed.kartothek.reading.states import load_schema, load_state, only_table
from lakebed.ports.files.files import Files


@dataclass(frozen=True)
class ReadPlan:
    """What a query reads: partitions of one state, and columns of one table."""

    state: DatasetState
    table: str
    schema: Any
    columns: tuple[str, ...]
    partitions: tuple[PartitionRead, ...]


def plan_read(
    files: Files,
    uuid: str,
    *,
    table: str | None = None,
    columns: Sequence[str] | None = None,
    predicates: Any = None,
    at: str | datetime | None = None,
) -> ReadPlan:
    """The partitions that a query needs; `at` reads a former state that the dataset keeps.

    The number of calls to the store does not depend on the partitions: the state, the schema if
    the state lacks it, and one or two for each index that the predicates use.
    """
    state = load_state(files, uuid) if at is None else state_at(files, uuid, at)
    return plan_state(files, state, table=table, columns=columns, predicates=predicates)


def plan_state(
    files: Files,
    state: DatasetState,
    *,
    table: str | None = None,
    columns: Sequence[str] | None = None,
    predicates: Any = None,
    indices: StateIndices | None = None,
) -> ReadPlan:
    """The same for a state that was loaded before, with its indices if they were opened before."""
    chosen = only_table(state, table)
    schema, indices = load_schema(files, state, chosen), indices or StateIndices(files, state)
    parsed = parse_predicates(predicates, column_types(schema, indices, predicates))
    return ReadPlan(
        state,
        chosen,
        schema,
        _known_columns(schema, columns),
        plan_partitions(state, schema, parsed, partial(indices.labels, schema)),
    )


def column_types(schema: Any, indices: StateIndices, predicates: Any) -> Mapping[str, Any]:
    """The types of the table's columns, and of fields that only an index has."""
    outside = [name for name in predicate_columns(predicates) if name not in schema.names]
    return {
        **{field.name: field.type for field in schema},
        **{name: indices.type(name) for name in outside if name in indices},
    }


def read_partitions(files: Files, plan: ReadPlan) -> Iterator[Any]:
    """The rows of each partition as an Arrow table, one after the other."""
    for part in plan.partitions:
        yield read_partition(
            files, part, table=plan.table, schema=plan.schema, columns=plan.columns
        )


def read_table(
    files: Files,
    uuid: str,
    *,
    table: str | None = None,
    columns: Sequence[str] | None = None,
    predicates: Any = None,
    at: str | datetime | None = None,
) -> Any:
    """All rows that satisfy the predicates, as one Arrow table."""
    plan = plan_read(files, uuid, table=table, columns=columns, predicates=predicates, at=at)
    fields = [pa.field(name, plan.schema.field(name).type) for name in plan.columns]
    empty = pa.schema(fields).empty_table()
    return pa.concat_tables([empty, *read_partitions(files, plan)])


def to_pandas(rows: Any, *, dates_as_object: bool = True, categoricals: Sequence[str] = ()) -> Any:
    """Rows as a pandas frame: dates as `date` objects, or as timestamps at midnight; integers
    beside NULLs as pandas' nullable ones, because floats would round them. Times are counted in
    nanoseconds, as plateau gives them, unless one is too early or too late for that.
    """
    import pandas as pd  # type: ignore[import-untyped]

    chosen = [name for name in categoricals if name in rows.column_names]
    frame = rows.to_pandas(
        date_as_object=dates_as_object,
        categories=chosen,
        coerce_temporal_nanoseconds=not any(map(beyond_nanoseconds, rows.columns)),
        integer_object_nulls=True,
    )
    for number, (field, column) in enumerate(zip(rows.schema, rows.columns, strict=True)):
        is_plain = pa.types.is_integer(field.type) and field.name not in chosen
        if is_plain and column.null_count:
            dtype = pd.api.types.pandas_dtype(nullable_dtype(field.type))
            frame.isetitem(number, dtype.__from_arrow__(column))
    return frame


def _known_columns(schema: Any, columns: Sequence[str] | None) -> tuple[str, ...]:
    if columns is None:
        return tuple(schema.names)
    for name in columns:
        if name not in schema.names:
            raise UnknownName("column", str(name), schema.names)
    return tuple(dict.fromkeys(columns))
