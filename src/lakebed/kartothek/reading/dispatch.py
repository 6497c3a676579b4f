"""Rows in groups: one for each combination of values of indexed columns and partition keys."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.errors import UnknownName
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.indexes.postings import flat_index
from lakebed.kartothek.predicates.conditions import Predicates, parse_predicates
from lakebed.kartothek.predicates.rows import predicate_mask
from lakebed.kartothek.reading.index_reader import StateIndices
from lakebed.kartothek.reading.plan import key_column
from lakebed.kartothek.reading.read import ReadPlan, column_types, plan_state
from lakebed.kartothek.reading.states import load_state
from lakebed.ports.files.files import Files

_LABEL = "\0label"  # no column has this name


def plan_groups(
    files: Files,
    uuid: str,
    by: Sequence[str],
    *,
    table: str | None = None,
    columns: Sequence[str] | None = None,
    predicates: Any = None,
) -> Iterator[tuple[Mapping[str, Any], ReadPlan]]:
    """The values of each group, and what reads its rows.

    The columns must be partition keys or indexed. Without columns all rows are one group. Rows
    without a value in an indexed column are in no group: the index does not know them.
    """
    state = load_state(files, uuid)
    planned = partial(
        plan_state, files, state, table=table, columns=columns, indices=StateIndices(files, state)
    )
    plan = planned(predicates=predicates)
    if not by:
        yield {}, plan
        return
    for values in _groups(files, state, plan, by, predicates):
        own = [(name, "==", value) for name, value in values.items()]
        both = [[*one, *own] for one in predicates] if predicates is not None else [own]
        chosen = planned(predicates=both)
        if chosen.partitions:
            yield values, chosen


def _groups(
    files: Files, state: DatasetState, plan: ReadPlan, by: Sequence[str], predicates: Any
) -> list[dict[str, Any]]:
    """The combinations of values that occur in a partition that the query reads."""
    indices = StateIndices(files, state)
    labels = pa.array([part.label for part in plan.partitions], pa.string())
    found = pa.table({_LABEL: labels})
    for name in by:
        found = found.join(_pairs(indices, state, plan.schema, name), _LABEL, join_type="inner")
    types = column_types(plan.schema, indices, predicates)
    parsed = _on_columns(parse_predicates(predicates, types), by)
    kept = found if parsed is None else found.filter(predicate_mask(found, parsed))
    once = kept.group_by(list(by), use_threads=False).aggregate([])
    rows: list[dict[str, Any]] = once.sort_by([(name, "ascending") for name in by]).to_pylist()
    return rows


def _pairs(indices: StateIndices, state: DatasetState, schema: Any, name: str) -> Any:
    """Each value of a column with the label of a partition that has it."""
    if name in state.partition_keys:
        labels = pa.array(list(state.partitions), pa.string())
        return pa.table({_LABEL: labels, name: key_column(state, schema, name, state.partitions)})
    if name not in indices:
        raise UnknownName("indexed column", name, [*state.partition_keys, *state.indexed])
    indices.require_type(name, schema)
    values, labels = flat_index(indices.index(name).whole())
    indices.require_known(name, frozenset(pc.unique(labels).to_pylist()))
    return pa.table({_LABEL: labels, name: values})


def _on_columns(predicates: Predicates | None, names: Sequence[str]) -> Predicates | None:
    """What predicates say of these columns alone; None if they allow every value."""
    if predicates is None:
        return None
    on_names = [tuple(one for one in part if one.column in names) for part in predicates]
    return tuple(on_names) if all(on_names) else None
