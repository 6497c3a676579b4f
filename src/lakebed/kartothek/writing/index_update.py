"""The indices of a state after partitions were added and removed.

plateau reads an index as one whole file, so each commit writes a new one: values that the commit
does not concern are copied.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from lakebed.kartothek.format.column_types import StringProfile
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.indexes.files import index_file
from lakebed.kartothek.indexes.postings import distinct_values, index_type, merged_index, values_of
from lakebed.kartothek.reading.data_files import read_file
from lakebed.kartothek.reading.index_reader import StateIndices
from lakebed.kartothek.writing.commit import UncommittedFiles
from lakebed.kartothek.writing.partition_files import WrittenPartition
from lakebed.ports.files.files import Files


def with_updated_indices(
    files: Files,
    state: DatasetState,
    made: UncommittedFiles,
    *,
    added: Sequence[WrittenPartition],
    removed: Collection[str],
    indexed: Collection[str],
    types: Mapping[str, Any],
) -> DatasetState:
    """The state with indices of these columns; those that nothing concerns stay as they are."""
    known = StateIndices(files, state)
    indices, sizes = dict(state.indices), dict(state.index_sizes)
    for column in indexed:
        if column in known and not added and not removed:
            continue
        type_ = known.type(column) if column in known else types[column]
        whole = known.index(column).whole() if column in known else None
        values = {one.label: _values(files, one, column, type_, whole) for one in added}
        merged = merged_index(whole, values, type_=type_, removed=removed)
        data = index_file(column, merged)
        sizes.pop(indices.get(column, ""), None)
        indices[column] = made.create_index(state.uuid, column, data)
        sizes[indices[column]] = len(data)
    return replace(state, indices=indices, index_sizes=sizes)


def index_types(
    indexed: Collection[str],
    schemas: Mapping[str, Any],
    added: Sequence[WrittenPartition],
    *,
    strings: StringProfile,
) -> Mapping[str, Any]:
    """The types of new indices: of the columns, or of values outside the rows."""
    found: dict[str, Any] = {}
    for column in indexed:
        outside = [one.values[column].type for one in added if column in one.values]
        inside = [one.field(column).type for one in schemas.values() if column in one.names]
        known = [type_ for type_ in (*inside, *outside) if not pa.types.is_null(type_)]
        found[column] = index_type(known[0] if known else pa.null(), column, strings=strings)
    return found


def _values(files: Files, part: WrittenPartition, column: str, type_: Any, known: Any) -> Any:
    """The values of a new partition; read from its file if its writer did not say.

    A field outside the rows keeps the value of the partition that was replaced.
    """
    if column in part.values:
        return part.values[column].cast(type_)
    for path in part.files.values():
        rows = read_file(files, path)
        if column in rows.column_names:
            return distinct_values(rows.column(column), type_)
    if part.replaced is not None and known is not None:
        return values_of(known, part.replaced, type_)
    return pa.array([], type_)
