"""Comparing the rows of a layout with those of its table, batch by batch: how many there are, and
the sum of their hashes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lakebed.batches.keys import BatchKey, KeyValues, label, read_label
from lakebed.batches.sidecars import known_batches
from lakebed.batches.state import BatchState
from lakebed.derived.building.batches import MOST_BATCHES, any_batch
from lakebed.derived.building.columns import rows_query
from lakebed.derived.building.look import (
    SourceState,
    freshness_of,
    look_at_source,
    read_layout_table,
)
from lakebed.derived.building.services import LayoutServices, LayoutSession
from lakebed.derived.building.stamp import PATIENCE, checkpoint_layout
from lakebed.derived.freshness import source_snapshot
from lakebed.derived.identity import Layout
from lakebed.derived.labels import FileLabels
from lakebed.names import TableName, spark_identifier
from lakebed.ports import Field
from lakebed.tables.migration.checksum import NO_ROWS, RowSum, read_row_sum, row_sum_query
from lakebed.types import read_iceberg_type
from lakebed.work import retry


@dataclass(frozen=True)
class BatchCheck:
    """A batch of a layout, compared with its table as of the snapshot that it was built from.

    `problem` says what `differs`, or why it cannot be compared.
    """

    batch: str
    rows: int = 0  # of the layout
    source_rows: int = 0
    fresh: bool = False
    problem: str = ""
    differs: bool = False


@dataclass(frozen=True)
class LayoutCheck:
    """What a comparison of one layout found."""

    table: TableName
    name: str
    batches: tuple[BatchCheck, ...]

    @property
    def ok(self) -> bool:
        return not any(batch.differs for batch in self.batches)


Sums = Mapping[str, RowSum]


@dataclass(frozen=True)
class LayoutVerifier:
    """Compares the layouts of one table."""

    services: LayoutServices
    session: LayoutSession
    table: TableName

    def verify(self, hidden: TableName) -> LayoutCheck:
        """Compare all batches that a layout says it has. Those that differ are no longer used, and
        the next build writes them again.
        """
        source = look_at_source(self.services, self.table)
        layout = read_layout_table(self.services, hidden)
        if source is None:
            return LayoutCheck(self.table, layout.name, ())
        checks = self._checks(source, layout)
        if any(check.differs for check in checks):
            self._distrust(layout, checks)
        return LayoutCheck(self.table, layout.name, checks)

    def _checks(self, source: SourceState, layout: Layout) -> tuple[BatchCheck, ...]:
        keys = FileLabels(layout.metadata.columns, layout.spec.batch_columns).keys
        states, freshness = freshness_of(self.services, source, layout)
        head = layout.metadata.head()
        if head is None or "drift" in freshness.stale.values():
            return tuple(_incomparable(label, "its columns are others") for label in states.batches)
        points = {
            label: source.snapshot if label in freshness.fresh else _snapshot(state, source)
            for label, state in states.batches.items()
        }
        columns = tuple(
            Field(one.name, read_iceberg_type(one.type).spark) for one in source.metadata.columns
        )
        chosen = [source.metadata.snapshots[one] for one in {*points.values()} if one is not None]
        tables = self.services.tables
        with tables.protect_points(self.table, source.metadata, *chosen):
            there = self._sums(rows_query(layout.table, layout.metadata, head.id), columns, keys)
            here: dict[str, RowSum] = {}
            for snapshot in {one for one in points.values() if one is not None}:
                labels = [label for label, one in points.items() if one == snapshot]
                where = any_batch(keys, [_values(label, keys) for label in labels])
                query = rows_query(self.table, source.metadata, snapshot, where=where)
                here |= self._sums(query, columns, keys)
        known = [
            _compared(label, there, here, fresh=label in freshness.fresh)
            if point is not None
            else _incomparable(label, "the snapshot that it was built from has expired")
            for label, point in points.items()
        ]
        return (*known, *(_unknown(label, there[label]) for label in there if label not in points))

    def _sums(self, query: str, columns: Sequence[Field], keys: Sequence[BatchKey]) -> Sums:
        by = [spark_identifier(key.name) for key in keys]
        rows = self.session.compute.rows(
            row_sum_query(f"({query})", columns, by=by), limit=MOST_BATCHES
        )
        return {_label_of(row, keys): read_row_sum(row) for row in rows if row["rows"]}

    def _distrust(self, layout: Layout, checks: Iterable[BatchCheck]) -> None:
        """Forget the batches that differ; with rows that nobody tells of, all of them."""
        wrong = {check.batch for check in checks if check.differs}

        def attempt() -> None:
            present = read_layout_table(self.services, layout.table)
            states = known_batches(self.services.ports.files, present.metadata).batches
            kept = [state for label, state in states.items() if label not in wrong]
            head = present.metadata.head()
            checkpoint_layout(
                self.services,
                present,
                kept if wrong <= states.keys() else (),
                at=head.id if head else None,
                covers=None,
                held=held,
            )

        with self.services.holding(str(layout.table), wait=PATIENCE) as held:
            retry(attempt, repeatable=False)


def _snapshot(state: BatchState, source: SourceState) -> int | None:
    found = source_snapshot(state, source.metadata.uuid)
    return found if found in source.metadata.snapshots else None


def _values(text: str, keys: Sequence[BatchKey]) -> KeyValues:
    return read_label(text, keys) if keys else ()


def _label_of(row: Mapping[str, Any], keys: Sequence[BatchKey]) -> str:
    return label(keys, tuple(row[f"by_{place}"] for place in range(len(keys))))


def _compared(name: str, there: Sums, here: Sums, *, fresh: bool) -> BatchCheck:
    own, source = there.get(name, NO_ROWS), here.get(name, NO_ROWS)
    found = BatchCheck(name, own.rows, source.rows, fresh)
    if own == source:
        return found
    problem = (
        f"it has {own.rows} rows, and the table {source.rows}"
        if own.rows != source.rows
        else "its rows have other values"
    )
    return replace(found, problem=problem, differs=True)


def _incomparable(name: str, why: str) -> BatchCheck:
    return BatchCheck(name, problem=f"not compared: {why}")


def _unknown(name: str, found: RowSum) -> BatchCheck:
    return BatchCheck(name, found.rows, problem="no build has written these rows", differs=True)
