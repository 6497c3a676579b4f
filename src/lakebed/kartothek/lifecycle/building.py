"""Indices built for rows that are there already."""

from collections.abc import Sequence
from typing import Any

from lakebed.errors import UnknownName
from lakebed.kartothek.format.column_types import strings_of
from lakebed.kartothek.format.state import SEGMENTS, DatasetState
from lakebed.kartothek.indexes.files import index_file
from lakebed.kartothek.indexes.postings import distinct_values, index_type, merged_index
from lakebed.kartothek.reading.data_files import read_partition
from lakebed.kartothek.reading.plan import PartitionRead
from lakebed.kartothek.reading.states import load_schema
from lakebed.kartothek.writing.commit import UncommittedFiles, commit
from lakebed.kartothek.writing.index_update import with_index
from lakebed.kartothek.writing.partition_files import require_indexable
from lakebed.ports.files.files import Files


def build_indices(files: Files, uuid: str, columns: Sequence[str]) -> DatasetState:
    """Build indices of columns from all rows, also where the dataset has one already.

    `UnknownName` for a column that no table has. Partitions that other writers add meanwhile are
    indexed too, before the commit.
    """
    values: dict[tuple[str, str], Any] = {}  # of partitions that were read in an earlier attempt

    def change(state: DatasetState, made: UncommittedFiles) -> DatasetState:
        require_indexable(columns, state.partition_keys)
        segmented = state.metadata.get(SEGMENTS) == "true"
        for column in columns:
            data = _index(files, state, column, values)
            state = with_index(made, state, column, data, (), segmented)
        return state

    return commit(files, uuid, change)


def _index(
    files: Files, state: DatasetState, column: str, values: dict[tuple[str, str], Any]
) -> bytes:
    table, schema = _holder(files, state, column)
    type_ = index_type(schema.field(column).type, column, strings=strings_of([schema]))
    for label, paths in state.partitions.items():
        if (column, label) not in values:
            part = PartitionRead(label, paths, {}, None)
            rows = read_partition(files, part, table=table, schema=schema, columns=[column])
            values[column, label] = distinct_values(rows.column(column), type_)
    added = {label: values[column, label] for label in state.partitions}
    return index_file(column, merged_index(None, added, type_=type_))


def _holder(files: Files, state: DatasetState, column: str) -> tuple[str, Any]:
    """The first table that has the column, and its schema."""
    schemas = {table: load_schema(files, state, table) for table in state.tables}
    for table, schema in schemas.items():
        if column in schema.names:
            return table, schema
    raise UnknownName("column", column, [name for one in schemas.values() for name in one.names])
