"""The indices of a state after partitions were added and removed.

plateau reads an index as one whole file, so each commit writes a new one: values that the commit
does not concern are copied. A dataset can have its indices in segments instead, for Lakebed alone.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
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

_SEGMENTS = 16  # of one index; one more, and small ones are merged
_LARGE = 8  # of them at most stay as they are then


def with_updated_indices(
    files: Files,
    state: DatasetState,
    made: UncommittedFiles,
    *,
    added: Sequence[WrittenPartition],
    removed: Collection[str],
    indexed: Collection[str],
    segmented: bool,
    schemas: Mapping[str, Any],
    strings: StringProfile,
) -> DatasetState:
    """The state with indices of these columns; those that nothing concerns stay as they are.

    An index in segments gets one more, with the added partitions only.
    """
    known = StateIndices(files, state)
    new = [column for column in indexed if column not in known]
    types = _new_types(new, schemas, added, strings=strings)
    for column in indexed:
        if column in known and not added and (column in state.segments or not removed):
            continue  # what is gone is left out of segments when they are read
        type_ = types[column] if column in types else _type(known, column, schemas)
        whole = partial(_whole, known, column)
        values = {one.label: _values(files, one, column, type_, whole) for one in added}
        segments, kept = state.segments.get(column, ()), tuple[str, ...]()
        if segmented and column not in state.indices:
            kept = kept_segments(segments, state.index_sizes)
            small = segments[len(kept) :]
            old = known.merged(column, small) if small else None
        else:
            old = whole()
        merged = merged_index(old, values, type_=type_, removed=removed)
        state = with_index(made, state, column, index_file(column, merged), kept, segmented)
    return state


def kept_segments(segments: Sequence[str], sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The first segments, which stay as they are; the others are merged with new values.

    All stay until they are too many. Then those stay that are larger than all after them together,
    so that a large index is seldom written again.
    """
    if len(segments) < _SEGMENTS:
        return tuple(segments)
    rest, kept = sum(sizes.get(path, 0) for path in segments), list[str]()
    for path in segments[:_LARGE]:
        rest -= sizes.get(path, 0)
        if sizes.get(path, 0) <= rest:
            break
        kept.append(path)
    return tuple(kept)


def with_index(
    made: UncommittedFiles,
    state: DatasetState,
    column: str,
    data: bytes,
    kept: tuple[str, ...],
    segmented: bool,
) -> DatasetState:
    """The state with a new file of an index: alone, or after the kept segments."""
    path = made.create_index(state.uuid, column, data)
    gone = set(state.index_files(column) if column in state.indexed else ()) - set(kept)
    sizes = {name: size for name, size in state.index_sizes.items() if name not in gone}
    indices = {name: one for name, one in state.indices.items() if name != column}
    segments = {name: one for name, one in state.segments.items() if name != column}
    if segmented:
        segments[column] = (*kept, path)
    else:
        indices[column] = path
    return replace(
        state, indices=indices, segments=segments, index_sizes={**sizes, path: len(data)}
    )


def _type(known: StateIndices, column: str, schemas: Mapping[str, Any]) -> Any:
    for schema in schemas.values():
        known.require_type(column, schema)
    return known.type(column)


def _whole(known: StateIndices, column: str) -> Any | None:
    return known.index(column).whole() if column in known else None


def _new_types(
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


def _values(
    files: Files,
    part: WrittenPartition,
    column: str,
    type_: Any,
    whole: Callable[[], Any | None],
) -> Any:
    """The values of a new partition; read from its file if its writer did not say.

    A field outside the rows keeps the value of the partition that was replaced.
    """
    if column in part.values:
        return part.values[column].cast(type_)
    for path in part.files.values():
        rows = read_file(files, path)
        if column in rows.column_names:
            return distinct_values(rows.column(column), type_)
    known = whole() if part.replaced is not None else None
    if part.replaced is not None and known is not None:
        return values_of(known, part.replaced, type_)
    return pa.array([], type_)
