"""Delete scopes: equality conditions that name rows to be removed, exactly.

A partition whose rows all match goes whole. One with other rows too is written again without the
matching ones; plateau would remove those others with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.errors import BadQuery
from lakebed.kartothek.format.names import data_path
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.predicates.conditions import Predicates
from lakebed.kartothek.predicates.rows import predicate_mask
from lakebed.kartothek.reading.data_files import read_file
from lakebed.kartothek.reading.plan import PartitionRead
from lakebed.kartothek.reading.read import ReadPlan, plan_state
from lakebed.kartothek.writing.partition_files import WrittenPartition, discard, parquet_file
from lakebed.ports.files.files import Files


@dataclass(frozen=True)
class ScopeResult:
    """Partitions that go, and those that replace some of them."""

    removed: frozenset[str] = frozenset()
    rewritten: tuple[WrittenPartition, ...] = ()


class DeleteScope:
    """Applies a delete scope to one state after the other, rewriting no partition twice."""

    def __init__(self, files: Files, scope: Sequence[Mapping[str, Any]]) -> None:
        self._files = files
        self._predicates = scope_predicates(scope)
        self._known: dict[str, ScopeResult] = {}

    def apply(self, state: DatasetState) -> ScopeResult:
        """What the scope removes from a state; `UnknownName` for a column it does not have."""
        if self._predicates is None or not state.partitions:
            return ScopeResult()
        table = state.tables[0]  # partition keys are the same in all of them
        plan = plan_state(self._files, state, table=table, predicates=self._predicates)
        for part in plan.partitions:
            if part.label not in self._known:
                self._known[part.label] = self._applied(plan, part)
        found = [self._known[part.label] for part in plan.partitions]
        return ScopeResult(
            frozenset(label for one in found for label in one.removed),
            tuple(part for one in found for part in one.rewritten),
        )

    def remove_unused(self, state: DatasetState) -> None:
        """Remove files of rewritten partitions that are not in the state that was committed."""
        for part in (part for one in self._known.values() for part in one.rewritten):
            if part.label not in state.partitions:
                discard(self._files, [part])

    def _applied(self, plan: ReadPlan, part: PartitionRead) -> ScopeResult:
        whole = ScopeResult(frozenset({part.label}))
        if part.predicates is None:
            return whole
        if len(part.files) > 1:
            raise BadQuery(
                "the delete scope names columns other than partition keys, and the dataset has"
                " several tables.",
                next="Name partition keys only.",
            )
        stored = read_file(self._files, part.files[plan.table], schema=plan.schema)
        gone = predicate_mask(_tested(stored, plan.schema, part.predicates), part.predicates)
        rest = stored.filter(pc.invert(gone))
        if rest.num_rows == stored.num_rows:
            return ScopeResult()
        return replace(whole, rewritten=(self._rewritten(plan, part, rest),)) if rest else whole

    def _rewritten(self, plan: ReadPlan, part: PartitionRead, rest: Any) -> WrittenPartition:
        folder = part.label.rpartition("/")[0]
        label = f"{folder}/{uuid4().hex}" if folder else uuid4().hex
        path = data_path(plan.state.uuid, plan.table, label)
        self._files.create(path, parquet_file(rest))
        return WrittenPartition(label, {plan.table: path}, replaced=part.label)


def _tested(stored: Any, schema: Any, predicates: Predicates) -> Any:
    """The columns that the predicates test, with the types of the schema."""
    names = {one.column for conjunction in predicates for one in conjunction}
    found = {
        name: stored.column(name) if name in stored.column_names else pa.nulls(stored.num_rows)
        for name in names
    }
    return pa.table({name: found[name].cast(schema.field(name).type) for name in names})


def scope_predicates(scope: Sequence[Mapping[str, Any]]) -> list[list[tuple[str, str, Any]]] | None:
    """The scope as predicates; None if it names nothing."""
    for part in scope:
        if not isinstance(part, Mapping) or not part:
            raise BadQuery(f"a delete scope is a list of {{column: value}}, not {part!r:.60}.")
    return [[(name, "==", value) for name, value in part.items()] for part in scope] or None
