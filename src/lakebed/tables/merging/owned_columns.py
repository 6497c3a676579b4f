"""Columns that a strategy added to a table to mark valid rows, and what a change of strategy means
for them. Pure.
"""

import json
from collections.abc import Collection, Sequence

from lakebed.errors import BadBatch
from lakebed.names import TableName
from lakebed.ports import OWN_COLUMNS, Field, Snapshot, TableMetadata
from lakebed.tables.columns.schema import SchemaPolicy
from lakebed.tables.merging.strategies import AppendOnly, OverwriteWhere, Scd2, SoftDelete, Strategy

_USUAL = (Scd2(unique_key=("id",)), SoftDelete(unique_key=("id",)))
_REBUILD = "rebuild the table under the new strategy: on_schema_change: sync, and --full-refresh"


def own_columns_summary(columns: Collection[str]) -> str:
    """These columns, as a snapshot's summary records them."""
    return json.dumps(list(columns))


def owned_columns(metadata: TableMetadata, snapshot: int | None) -> tuple[str, ...] | None:
    """The columns, by their present names, that the strategy of a snapshot added; None if no
    snapshot records them.
    """
    for step in metadata.ancestry(snapshot):
        if OWN_COLUMNS in step.summary:
            return _present(json.loads(step.summary[OWN_COLUMNS]), step, metadata)
    return None


def _present(names: Sequence[str], step: Snapshot, metadata: TableMetadata) -> tuple[str, ...]:
    """Their present names; empty if one was dropped, for the others mean nothing without it."""
    ids = {column.name: column.id for column in (*metadata.columns, *metadata.columns_at(step))}
    called = {column.id: column.name for column in metadata.columns}
    found = [called[ids[name]] for name in names if ids.get(name) in called]
    return tuple(found) if len(found) == len(names) else ()


def guess_owned_columns(metadata: TableMetadata, result: Sequence[Field]) -> tuple[str, ...]:
    """A guess for tables that an older Lakebed wrote: columns with the usual names that no result
    has.
    """
    given = {field.name.casefold() for field in result}
    there = {
        column.name: column.type
        for column in metadata.columns
        if column.name.casefold() not in given
    }
    usual = (tuple(name for name, _ in strategy.own_columns) for strategy in _USUAL)
    return next(
        (names for names in usual if all(there.get(name) == "timestamptz" for name in names)), ()
    )


def require_compatible_strategy(
    strategy: Strategy,
    owned: Sequence[str],
    result: Sequence[Field],
    *,
    policy: SchemaPolicy,
    there: Sequence[str],
    table: TableName,
) -> None:
    """Raise for a strategy that ignores the `owned` columns, which say what rows of the table are
    valid.

    `there` are all columns of the table. Names are those after pending renames.
    """
    own, given = (
        [name for name, _ in strategy.own_columns],
        {field.name.casefold() for field in result},
    )
    brings_them = {name.casefold() for name in owned} <= given and isinstance(
        strategy, AppendOnly | OverwriteWhere
    )
    if not set(owned) <= set(own) and not brings_them:
        what = (
            f"{_words(owned)} were added by another strategy and say which rows are valid;"
            f" {strategy.strategy} ignores them."
        )
        raise BadBatch(
            what,
            where=str(table),
            safe="Nothing was written.",
            next=f"Go back to that strategy, or {_REBUILD}.",
        )
    lacking = [name for name in own if name.casefold() not in {name.casefold() for name in there}]
    if lacking and policy == "fail":
        raise BadBatch(
            f"{strategy.strategy} adds {_words(lacking)} to the table, and on_schema_change is"
            " fail.",
            where=str(table),
            safe="Nothing was written.",
            next=f"Set on_schema_change to append, which keeps the rows; or {_REBUILD}.",
        )


def _words(columns: Sequence[str]) -> str:
    return f"the {'column' if len(columns) == 1 else 'columns'} {' and '.join(columns)}"
