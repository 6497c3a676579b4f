"""The statements that merge a staged batch into a table, one commit each. Pure: executed elsewhere.

In every statement `t` is the table's branch and `s` the source that is merged into it. Columns that
only the table has keep their values in updated rows, and are NULL in new ones.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lakebed.names import spark_identifier
from lakebed.ports import Field
from lakebed.tables.merging.row_equality import free_name, holds_map, other_columns, rows_equal
from lakebed.tables.merging.strategies import (
    AppendOnly,
    DeleteInsert,
    FullRefresh,
    Incremental,
    InsertOverwrite,
    OverwriteWhere,
    ReplaceBatch,
    ReplaceRange,
    Scd2,
    SoftDelete,
    Strategy,
)

SPREAD = 16  # tasks that share the rows of one replaced partition
SPREAD_BY = 3  # columns are enough to spread rows evenly


@dataclass(frozen=True)
class _Batch:
    """A staged batch and the branch that it is merged into."""

    target: str
    staged: str
    columns: tuple[Field, ...]
    now: str
    repeats: bool
    since: str | None

    @property
    def mark(self) -> str:
        """An extra column of the source that says what to do with the row."""
        return free_name("_mark", self.columns)


def write_statement(
    strategy: Strategy,
    *,
    target: str,
    staged: str,
    columns: Sequence[Field],
    now: str,
    repeats: bool = True,
    since: str | None = None,
) -> str | None:
    """One MERGE of a staged batch into a branch; None if the whole frame replaces the rows or is
    appended.

    `columns` are the batch's; `now` is a typed literal, the time of the run. If the key check found
    no repeated key, `repeats=False` saves looking for the newest row of each. `since` is when rows
    became valid that were in the table before it became a history.
    """
    batch = _Batch(target, staged, tuple(columns), now, repeats, since)
    match strategy:
        case FullRefresh() | OverwriteWhere() | ReplaceBatch() | ReplaceRange() | AppendOnly():
            return None
        case Incremental():
            return _incremental(strategy, batch)
        case DeleteInsert():
            return _replacement(batch, strategy.unique_key, "=", spread=1)
        case InsertOverwrite():
            return _replacement(batch, (strategy.partition_column,), "<=>", spread=SPREAD)
        case Scd2():
            return _scd2(strategy, batch)
        case SoftDelete():
            return _soft_delete(strategy, batch)


def newest_rows(
    strategy: Strategy, *, staged: str, columns: Sequence[Field], repeats: bool = True
) -> str:
    """A query: the newest row of each key of a staged batch.

    Rows that are equally new are equal: the key check made sure.
    """
    names, place = _names(columns), free_name("_place", columns)
    if not (repeats and strategy.order):
        return f"SELECT {names} FROM {staged}"
    newest = (
        f"PARTITION BY {_listed(strategy.keys)} ORDER BY {spark_identifier(strategy.order)} DESC"
        " NULLS LAST"
    )
    return (
        f"SELECT {names} FROM (SELECT {names}, row_number() OVER ({newest}) AS {place} FROM"
        f" {staged}) WHERE {place} = 1"
    )


def _incremental(strategy: Incremental, batch: _Batch) -> str:
    """Update arriving keys unless the table's row is newer; insert new ones."""
    return (
        f"MERGE INTO {batch.target} t USING ({_newest(strategy, batch)}) s ON"
        f" {same_key(strategy.keys)}\nWHEN MATCHED{_unless_late(strategy)} THEN UPDATE SET"
        f" {_assignments(batch.columns)}\nWHEN NOT MATCHED THEN {_insert(batch.columns)}"
    )


def _soft_delete(strategy: SoftDelete, batch: _Batch) -> str:
    """Write arriving keys unless the table's row is newer, and unmark them in any case; mark absent
    ones once.
    """
    deleted = spark_identifier(strategy.own_columns[0][0])
    returning = (
        f"WHEN MATCHED AND t.{deleted} IS NOT NULL THEN UPDATE SET t.{deleted} = NULL\n"
        if strategy.order
        else ""
    )
    return (
        f"MERGE INTO {batch.target} t USING ({_newest(strategy, batch)}) s ON"
        f" {same_key(strategy.keys)}\nWHEN MATCHED{_unless_late(strategy)} THEN UPDATE SET"
        f" {_assignments(batch.columns)}, t.{deleted} = NULL\n{returning}WHEN NOT MATCHED THEN"
        f" {_insert(batch.columns, (deleted, 'NULL'))}\nWHEN NOT MATCHED BY SOURCE AND t.{deleted}"
        f" IS NULL THEN UPDATE SET t.{deleted} = {batch.now}"
    )


def _replacement(batch: _Batch, by: Sequence[str], equals: str, *, spread: int) -> str:
    """Delete all rows that share their `by` columns with an arriving row; insert all arriving rows.

    The source has the arriving rows, with marks below 0, and their distinct `by` values, with marks
    from 0 to `spread`, which divide the deleted rows among tasks. The join compares marks for
    equality: otherwise every inserted row would be compared with every deleted row.
    """
    mark, rest = batch.mark, other_columns(batch.columns, by)
    telling = [c.name for c in rest if not holds_map(c.type)][:SPREAD_BY] or by
    divided = telling if spread > 1 else by
    matched = " AND ".join(f"t.{name} {equals} s.{name}" for name in map(spark_identifier, by))
    shared = ", ".join(
        "NULL" if column in rest else spark_identifier(column.name) for column in batch.columns
    )
    return (
        f"MERGE INTO {batch.target} t USING (\nSELECT {_names(batch.columns)}, -1 -"
        f" pmod(hash({_listed(telling)}), {SPREAD}) AS {mark} FROM {batch.staged}\nUNION ALL SELECT"
        f" {shared}, explode(sequence(0, {spread - 1}))\nFROM (SELECT DISTINCT {_listed(by)} FROM"
        f" {batch.staged})\n) s ON {matched} AND pmod(hash({_listed(divided, 't.')}), {spread}) ="
        f" s.{mark}\nWHEN MATCHED THEN DELETE\nWHEN NOT MATCHED AND s.{mark} < 0 THEN"
        f" {_insert(batch.columns)}"
    )


def _scd2(strategy: Scd2, batch: _Batch) -> str:
    """Close the open versions of changed keys (mark 0) and open their new ones (mark 1); the source
    has nothing else.
    """
    mark, valid_from, valid_to = (
        batch.mark,
        *map(spark_identifier, (strategy.scd_valid_from, strategy.scd_valid_to)),
    )
    absent = f"\nUNION ALL {_absent_keys(strategy, batch)}" if strategy.scd_close_absent else ""
    since = f"t.{valid_from} = {batch.since}" if batch.since else ""
    others = f"\nWHEN NOT MATCHED BY SOURCE THEN UPDATE SET {since}" if since else ""
    opened = _changed_rows(strategy, batch)
    if strategy.scd_close_absent and strategy.order:
        opened += f"\nUNION ALL {_returning_rows(strategy, batch)}"
    return (
        f"MERGE INTO {batch.target} t USING (\nSELECT *, explode(array(0, 1)) AS {mark} FROM"
        f" ({opened}){absent}\n) s ON {same_key(strategy.keys)} AND t.{valid_to} IS NULL AND"
        f" s.{mark} = 0\nWHEN MATCHED THEN UPDATE SET t.{valid_to} ="
        f" {batch.now}{f', {since}' if since else ''}\nWHEN NOT MATCHED AND s.{mark} = 1 THEN"
        f" {_insert(batch.columns, (valid_from, batch.now), (valid_to, 'NULL'))}{others}"
    )


def _changed_rows(strategy: Scd2, batch: _Batch) -> str:
    """Arriving rows that differ from the open version; with an order, only those that no version is
    newer than.
    """
    rest = other_columns(batch.columns, strategy.keys)
    known = f"h.{spark_identifier(strategy.scd_valid_to)} IS NULL AND {rows_equal(rest, 'h', 'b')}"
    if strategy.order:
        known = f"({is_late(strategy.order, 'h', 'b')} OR {known})"
    return (
        f"SELECT {_names(batch.columns)} FROM ({_newest(strategy, batch)}) b\n"
        f"LEFT ANTI JOIN {batch.target} h ON {same_key(strategy.keys, 'h', 'b')} AND {known}"
    )


def _returning_rows(strategy: Scd2, batch: _Batch) -> str:
    """The newest versions of closed keys that arrive again with older rows: the newer values become
    valid again.
    """
    place, valid_to = free_name("_place", batch.columns), spark_identifier(strategy.scd_valid_to)
    order = spark_identifier(strategy.order or "")
    newest = (
        f"PARTITION BY {_listed(strategy.keys)} ORDER BY {valid_to} IS NULL DESC, {order} DESC"
        f" NULLS LAST, {valid_to} DESC"
    )
    return (
        f"SELECT {_names(batch.columns)} FROM (SELECT *, row_number() OVER ({newest}) AS {place}"
        f" FROM {batch.target}) h\nLEFT SEMI JOIN ({_newest(strategy, batch)}) b\nON"
        f" {same_key(strategy.keys, 'h', 'b')} AND {is_late(strategy.order or '', 'h', 'b')}\nWHERE"
        f" h.{place} = 1 AND h.{valid_to} IS NOT NULL"
    )


def _absent_keys(strategy: Scd2, batch: _Batch) -> str:
    """The keys of open versions that are absent from the batch, with mark 0."""
    rest = other_columns(batch.columns, strategy.keys)
    row = ", ".join(
        "NULL" if column in rest else spark_identifier(column.name) for column in batch.columns
    )
    return (
        f"SELECT {row}, 0 FROM (SELECT DISTINCT {_listed(strategy.keys)} FROM {batch.target} h\n"
        f"LEFT ANTI JOIN {batch.staged} b ON {same_key(strategy.keys, 'h', 'b')}\n"
        f"WHERE h.{spark_identifier(strategy.scd_valid_to)} IS NULL)"
    )


def _newest(strategy: Strategy, batch: _Batch) -> str:
    return newest_rows(strategy, staged=batch.staged, columns=batch.columns, repeats=batch.repeats)


def is_late(order: str, table: str, arriving: str) -> str:
    """A condition that is never NULL: the table's row has an order value, and the arriving row has
    none or an earlier one.
    """
    t, s = (f"{alias}.{spark_identifier(order)}" for alias in (table, arriving))
    return f"{t} IS NOT NULL AND ({s} IS NULL OR {s} < {t})"


def _unless_late(strategy: Strategy) -> str:
    return f" AND NOT ({is_late(strategy.order, 't', 's')})" if strategy.order else ""


def same_key(keys: Iterable[str], one: str = "t", other: str = "s") -> str:
    return " AND ".join(f"{one}.{key} = {other}.{key}" for key in map(spark_identifier, keys))


def _listed(names: Iterable[str], prefix: str = "") -> str:
    return ", ".join(prefix + spark_identifier(name) for name in names)


def _names(columns: Iterable[Field]) -> str:
    return _listed(column.name for column in columns)


def _assignments(columns: Iterable[Field]) -> str:
    return ", ".join(
        f"t.{name} = s.{name}" for name in (spark_identifier(column.name) for column in columns)
    )


def _insert(columns: Iterable[Field], *own: tuple[str, str]) -> str:
    """INSERT of the batch's columns, and of the strategy's own with their values."""
    arriving = (
        (name, f"s.{name}") for name in (spark_identifier(column.name) for column in columns)
    )
    names, values = zip(*arriving, *own, strict=True)
    return f"INSERT ({', '.join(names)}) VALUES ({', '.join(values)})"
