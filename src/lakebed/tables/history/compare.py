"""Comparing two snapshots of a table: runs the queries that `diff` builds."""

from collections.abc import Sequence

from lakebed.errors import UnknownName
from lakebed.names import TableName
from lakebed.ports import Compute, Field, Snapshot, TableMetadata
from lakebed.tables.history.diff import (
    ColumnFigures,
    Example,
    TableDiff,
    column_changes,
    common_columns,
    examples_query,
    figures_query,
    read_figures,
    read_row,
    renamed_selection,
    row_counts_query,
)
from lakebed.tables.merging.row_equality import find_column
from lakebed.tables.statements import at_snapshot

_KINDS = ("added", "removed", "changed")


def compare(
    compute: Compute,
    table: TableName,
    metadata: TableMetadata,
    before: Snapshot,
    after: Snapshot,
    *,
    keys: Sequence[str] = (),
    examples: int = 5,
) -> TableDiff:
    """What was added, removed and changed between two snapshots, with some rows of each as
    examples.
    """
    columns = metadata.columns_at(before), metadata.columns_at(after)
    names = common_columns(*columns)
    old = renamed_selection(at_snapshot(table, before.id), names)
    new = renamed_selection(at_snapshot(table, after.id), ((now, now) for _, now in names))
    both = compute.fields(compute.query(f"SELECT * FROM {new}"))
    for key in keys:
        if not find_column(key, both):
            raise UnknownName(
                f"column that {table} has at both points", key, [field.name for field in both]
            )
    (counts,) = compute.rows(row_counts_query(old, new, both, keys), limit=1)
    sampled = {
        kind: _examples(compute, examples_query(old, new, both, keys, kind), both, limit=examples)
        for kind in _KINDS
        if counts[kind]
    }
    figures, rows = _figures(compute, old, new, both)
    rows |= {kind: int(count) for kind, count in counts.items()}
    return TableDiff(before, after, column_changes(*columns), tuple(keys), rows, figures, sampled)


def _examples(
    compute: Compute, query: str, columns: Sequence[Field], *, limit: int
) -> tuple[Example, ...]:
    found = compute.rows(query, limit=limit) if limit else []
    return tuple(
        Example(
            *(read_row(row[side], columns) if row[side] else None for side in ("before", "after"))
        )
        for row in found
    )


def _figures(
    compute: Compute, old: str, new: str, both: Sequence[Field]
) -> tuple[tuple[ColumnFigures, ...], dict[str, int]]:
    (was,), (now,) = (compute.rows(figures_query(place, both), limit=1) for place in (old, new))
    before, after = read_figures(was, both), read_figures(now, both)
    figures = tuple(
        ColumnFigures(field.name, before[field.name], after[field.name]) for field in both
    )
    return figures, {"before": int(was["rows"]), "after": int(now["rows"])}
