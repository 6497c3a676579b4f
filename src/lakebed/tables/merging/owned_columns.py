"""Columns that a strategy added to a table, by which it knows which rows hold: what a change of strategy makes of them. Pure."""

import json
from collections.abc import Collection, Sequence

from lakebed.errors import BadBatch
from lakebed.names import TableName
from lakebed.ports import OWN_COLUMNS, Field, Snapshot, TableMetadata
from lakebed.tables.columns.schema import SchemaPolicy
from lakebed.tables.merging.strategies import AppendOnly, Scd2, SoftDelete, Strategy

_USUAL = (Scd2(unique_key=("id",)), SoftDelete(unique_key=("id",)))
_REBUILD = "rebuild the table under the new strategy: on_schema_change: sync, and --full-refresh"


def own_columns_summary(columns: Collection[str]) -> str:
    """What a snapshot's summary says of these columns."""
    return json.dumps(list(columns))


def owned_columns(metadata: TableMetadata, snapshot: int | None) -> tuple[str, ...] | None:
    """The columns, by their present names, that the strategy of a state added; None where no snapshot says."""
    for step in metadata.ancestry(snapshot):
        if OWN_COLUMNS in step.summary:
            return _present(json.loads(step.summary[OWN_COLUMNS]), step, metadata)
    return None


def _present(names: Sequence[str], step: Snapshot, metadata: TableMetadata) -> tuple[str, ...]:
    """None of them where one is gone: what is left tells nothing."""
    ids = {column.name: column.id for column in (*metadata.columns, *metadata.columns_at(step))}
    called = {column.id: column.name for column in metadata.columns}
    found = [called[ids[name]] for name in names if ids.get(name) in called]
    return tuple(found) if len(found) == len(names) else ()


def guess_owned_columns(metadata: TableMetadata, result: Sequence[Field]) -> tuple[str, ...]:
    """The same, of a table that an older Lakebed wrote: columns of the usual names that no result has."""
    given = {field.name.casefold() for field in result}
    there = {column.name: column.type for column in metadata.columns if column.name.casefold() not in given}
    usual = (tuple(name for name, _ in strategy.own_columns) for strategy in _USUAL)
    return next((names for names in usual if all(there.get(name) == "timestamptz" for name in names)), ())


def require_compatible_strategy(
    strategy: Strategy,
    owned: Sequence[str],
    result: Sequence[Field],
    *,
    policy: SchemaPolicy,
    there: Sequence[str],
    table: TableName,
) -> None:
    """Refuse a strategy that would falsify rows of the table, which tells them apart by its `owned` columns.

    `there` are all columns of the table; names are those that are due.
    """
    own, given = [name for name, _ in strategy.own_columns], {field.name.casefold() for field in result}
    brings_them = isinstance(strategy, AppendOnly) and {name.casefold() for name in owned} <= given
    if not set(owned) <= set(own) and not brings_them:
        what = f"{_words(owned)} came with another strategy and say which rows hold; {strategy.strategy} does not look at that."
        raise BadBatch(what, where=str(table), safe="Nothing was written.", next=f"Go back to that strategy, or {_REBUILD}.")
    lacking = [name for name in own if name.casefold() not in {name.casefold() for name in there}]
    if lacking and policy == "fail":
        raise BadBatch(
            f"{strategy.strategy} adds {_words(lacking)} to the table, and on_schema_change is fail.",
            where=str(table),
            safe="Nothing was written.",
            next=f"Set on_schema_change to append, which keeps the rows; or {_REBUILD}.",
        )


def _words(columns: Sequence[str]) -> str:
    return f"the {'column' if len(columns) == 1 else 'columns'} {' and '.join(columns)}"
