"""The rows of an index: each value of a column, with the labels of the partitions that hold it.

Missing values are not indexed, as in plateau: predicates that accept them never use an index.
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.errors import BadBatch
from lakebed.kartothek.format.column_types import StringProfile, normal_type

PARTITION = "partition"
_VALUE, _LABEL = "value", "label"
_FEW = 1_000  # values, for which ordering everything would cost more


def index_type(type_: Any, column: str, *, strings: StringProfile | None = None) -> Any:
    """The type of the values in an index of a column; `BadBatch` if it cannot have one."""
    found = normal_type(type_, strings=strings or StringProfile.LARGE_STRING)
    if pa.types.is_nested(found) or pa.types.is_decimal(found) or pa.types.is_null(found):
        raise BadBatch(f"the column {column!r} is of type {found}, which cannot be indexed.")
    if column == PARTITION:
        raise BadBatch(f"a column named {PARTITION!r} cannot be indexed: indices use that name.")
    return found


def distinct_values(values: Any, type_: Any) -> Any:
    """The values of a column in one partition, each once, none missing."""
    plain = values.cast(type_)
    present = pc.drop_null(pc.unique(plain))
    if pa.types.is_floating(type_):
        present = present.filter(pc.invert(pc.is_nan(present)))
    return present


def merged_index(
    known: Any | None, added: Mapping[str, Any], *, type_: Any, removed: Collection[str] = ()
) -> Any:
    """An index with the values of added partitions (by label) and without the removed ones.

    Values that neither concerns are taken over as they are, so that an append to a large index
    costs little more than copying it.
    """
    new = _pairs(added, type_)
    if known is None:
        return _grouped(new)
    kept = _without(known, removed) if removed else known
    touched = pc.is_in(kept.column(_VALUE), value_set=new.column(_VALUE).combine_chunks())
    changed = pa.concat_tables([_flat(kept.filter(touched)), new])
    return _in_order(kept.filter(pc.invert(touched)), _grouped(changed))


def _in_order(kept: Any, changed: Any) -> Any:
    """Both together, by value. A few values are put between those that are in order already."""
    if changed.num_rows > _FEW or not _is_sorted(kept.column(_VALUE)):
        return pa.concat_tables([kept, changed]).sort_by(_VALUE).combine_chunks()
    parts, start = list[Any](), 0
    values = kept.column(_VALUE).combine_chunks()
    for number, value in enumerate(changed.column(_VALUE).to_pylist()):
        end = bisect_left(range(len(values)), value, lo=start, key=lambda at: values[at].as_py())
        parts += [kept.slice(start, end - start), changed.slice(number, 1)]
        start = end
    return pa.concat_tables([*parts, kept.slice(start)])


def _is_sorted(values: Any) -> bool:
    return bool(pc.all(pc.less_equal(values[:-1], values[1:]), min_count=0).as_py())


def _pairs(added: Mapping[str, Any], type_: Any) -> Any:
    values = [pa.array([], type_), *(values for values in added.values())]
    labels = [pa.array([label] * len(values), pa.string()) for label, values in added.items()]
    return pa.table(
        {
            _VALUE: pa.chunked_array(values, type_),
            _LABEL: pa.chunked_array([pa.array([], pa.string()), *labels], pa.string()),
        }
    )


def _grouped(pairs: Any) -> Any:
    """One row for each value, ordered by it: statistics then tell row groups apart."""
    once = pairs.group_by([_VALUE, _LABEL], use_threads=False).aggregate([])
    lists = once.group_by(_VALUE, use_threads=False).aggregate([(_LABEL, "list")])
    named = lists.select([_VALUE, f"{_LABEL}_list"]).rename_columns([_VALUE, PARTITION])
    return named.cast(index_schema(pairs.schema.field(_VALUE).type)).sort_by(_VALUE)


def index_schema(type_: Any) -> Any:
    """The columns of an index in memory."""
    return pa.schema([(_VALUE, type_), (PARTITION, pa.list_(pa.string()))])


def _flat(index: Any) -> Any:
    whole = index.combine_chunks()
    lists = whole.column(PARTITION).combine_chunks()
    values = whole.column(_VALUE).take(pc.list_parent_indices(lists))
    return pa.table({_VALUE: values, _LABEL: pc.list_flatten(lists)})


def flat_index(index: Any) -> tuple[Any, Any]:
    """Each value as often as partitions hold it, and the labels of those."""
    flat = _flat(index)
    return flat.column(_VALUE), flat.column(_LABEL)


def only_labels(index: Any, labels: Collection[str]) -> Any:
    """The index of these partitions alone, with each value once."""
    flat = _flat(index)
    known = pc.is_in(flat.column(_LABEL), value_set=pa.array(list(labels), pa.string()))
    return _grouped(flat.filter(known))


def _without(index: Any, removed: Collection[str]) -> Any:
    """The index without these partitions, and without values that only they held."""
    flat = _flat(index)
    gone = pc.is_in(flat.column(_LABEL), value_set=pa.array(sorted(removed), pa.string()))
    touched = pc.is_in(index.column(_VALUE), value_set=pc.unique(flat.filter(gone).column(_VALUE)))
    concerned = pc.is_in(flat.column(_VALUE), value_set=pc.unique(flat.filter(gone).column(_VALUE)))
    rest = flat.filter(pc.and_(concerned, pc.invert(gone)))
    return pa.concat_tables([index.filter(pc.invert(touched)), _grouped(rest)])


def values_of(index: Any, label: str, type_: Any) -> Any:
    """The values of one partition."""
    flat = _flat(index)
    own = flat.filter(pc.equal(flat.column(_LABEL), label)).column(_VALUE)
    return own.combine_chunks().cast(type_)
