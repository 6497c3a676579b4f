"""Which partitions a query reads, and what is left to decide on their rows.

Partition keys and indices of fields outside the rows decide exactly; other indices leave
partitions out. The work is proportional to the partitions, the calls to the indices used.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from lakebed.kartothek.format.labels import key_values
from lakebed.kartothek.format.partition_values import restored_value
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.predicates.conditions import ColumnCondition, Conjunction, Predicates
from lakebed.kartothek.predicates.rows import condition_mask

Lookup = Callable[[str, Sequence[ColumnCondition]], frozenset[str]]
_NEGATED = {"==": "!=", "!=": "==", "is distinct from": "==", "in": "not in", "not in": "in"}


@dataclass(frozen=True)
class PartitionRead:
    """One partition that a query reads; `predicates` are what its rows must still satisfy."""

    label: str
    files: Mapping[str, str]
    keys: Mapping[str, Any]
    predicates: Predicates | None


def plan_partitions(
    state: DatasetState, schema: Any, predicates: Predicates | None, lookup: Lookup
) -> tuple[PartitionRead, ...]:
    """The partitions to read, in the state's order; `lookup` searches an index."""
    left: dict[str, list[Conjunction] | None] = {}
    for conjunction in predicates if predicates is not None else ((),):
        rest = tuple(one for one in conjunction if _is_in_rows(one.column, state, schema))
        for label in _candidates(state, schema, conjunction, lookup):
            left[label] = _with(left.get(label, []), rest)
    return tuple(
        PartitionRead(
            label,
            files,
            dict(zip(state.partition_keys, restored_keys(state, schema, label), strict=True)),
            None if (found := left[label]) is None else tuple(found),
        )
        for label, files in state.partitions.items()
        if label in left
    )


def key_column(state: DatasetState, schema: Any, key: str, labels: Iterable[str]) -> Any:
    """The values of a partition key in these partitions, as Arrow."""
    number = state.partition_keys.index(key)
    values = [restored_keys(state, schema, label)[number] for label in labels]
    return pa.array(values, schema.field(key).type)


def _with(found: list[Conjunction] | None, rest: Conjunction) -> list[Conjunction] | None:
    """What is left for a label; None once a conjunction leaves nothing to decide."""
    return None if found is None or not rest else [*found, rest]


def restored_keys(state: DatasetState, schema: Any, label: str) -> tuple[Any, ...]:
    """The values of the partition keys; `DamagedDataset` if the label does not have them."""
    texts = key_values(label, state.partition_keys, path=label)
    return tuple(
        restored_value(text, schema.field(key).type, column=key, path=label)
        for key, text in zip(state.partition_keys, texts, strict=True)
    )


def _candidates(
    state: DatasetState, schema: Any, conjunction: Conjunction, lookup: Lookup
) -> list[str]:
    """The partitions that may satisfy a conjunction."""
    chosen = list(state.partitions)
    by_column = {
        column: [one for one in conjunction if one.column == column]
        for column in dict.fromkeys(one.column for one in conjunction)
    }
    for column in (one for one in by_column if one in state.partition_keys):
        chosen = _with_keys(state, schema, column, by_column[column], chosen)
    for column in (one for one in by_column if one not in state.partition_keys):
        if chosen and column in state.indexed:
            in_rows = _is_in_rows(column, state, schema)
            found = (_may_hold if in_rows else _holds)(state, column, by_column[column], lookup)
            chosen = [label for label in chosen if label in found]
    return chosen


def _with_keys(
    state: DatasetState,
    schema: Any,
    column: str,
    conditions: Sequence[ColumnCondition],
    labels: list[str],
) -> list[str]:
    values = key_column(state, schema, column, labels)
    masks = [condition_mask(values, one).to_pylist() for one in conditions]
    return [label for label, *passed in zip(labels, *masks, strict=True) if all(passed)]


def _may_hold(
    state: DatasetState, column: str, conditions: Sequence[ColumnCondition], lookup: Lookup
) -> frozenset[str]:
    """The index does not know missing values: a condition that accepts them cannot use it."""
    usable = [one for one in conditions if not one.accepts_missing]
    return lookup(column, usable) if usable else frozenset(state.partitions)


def _holds(
    state: DatasetState, column: str, conditions: Sequence[ColumnCondition], lookup: Lookup
) -> frozenset[str]:
    """A field outside the rows has one value for all rows of a partition, or none."""
    found = frozenset(state.partitions)
    for condition in conditions:
        if condition.accepts_missing:
            found -= lookup(column, [_negated(condition)])
        else:
            found &= lookup(column, [condition])
    return found


def _negated(condition: ColumnCondition) -> ColumnCondition:
    return replace(condition, operator=_NEGATED[condition.operator])


def _is_in_rows(column: str, state: DatasetState, schema: Any) -> bool:
    return column in schema.names and column not in state.partition_keys
