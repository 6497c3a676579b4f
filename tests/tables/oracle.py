"""What the seven strategies mean, in plain Python over lists of rows: slow, simple, and written
apart from the SQL.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

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

Row = dict[str, Any]
Rows = list[Row]


def expected(
    strategy: Strategy, table: Rows, batch: Rows, *, columns: Sequence[str], now: str
) -> Rows:
    """The rows of a table after a fit batch.

    `columns` are the table's: those the batch lacks are NULL in new rows.
    """
    blank = dict.fromkeys(columns)
    match strategy:
        case FullRefresh():
            return [blank | row for row in batch]
        case OverwriteWhere() | ReplaceBatch() | ReplaceRange():
            raise AssertionError("its condition is SQL: see conditions.py")
        case AppendOnly():
            return table + [blank | row for row in batch]
        case DeleteInsert():
            arriving = [key_of(strategy, row) for row in batch]
            return [row for row in table if key_of(strategy, row) not in arriving] + [
                blank | row for row in batch
            ]
        case InsertOverwrite():
            values = [row[strategy.partition_column] for row in batch]
            return [row for row in table if row[strategy.partition_column] not in values] + [
                blank | row for row in batch
            ]
        case Incremental():
            return _upserted(strategy, table, batch, blank, {}, lambda row: row)
        case SoftDelete():
            return _upserted(
                strategy,
                table,
                batch,
                blank,
                {"_deleted_at": None},
                lambda row: row | {"_deleted_at": row["_deleted_at"] or now},
            )
        case Scd2():
            return _history(strategy, table, batch, blank, now)


def _upserted(
    strategy: Strategy,
    table: Rows,
    batch: Rows,
    blank: Row,
    own: Row,
    when_absent: Callable[[Row], Row],
) -> Rows:
    newest, after = newest_by_key(strategy, batch), []
    for row in table:
        arriving = newest.get(key_of(strategy, row))
        if arriving is None:
            after.append(when_absent(row))
        else:
            after.append(row | own if is_late(strategy, arriving, row) else row | arriving | own)
    there = {key_of(strategy, row) for row in table}
    return after + [blank | row | own for key, row in newest.items() if key not in there]


def _history(strategy: Scd2, table: Rows, batch: Rows, blank: Row, now: str) -> Rows:
    since, until = strategy.scd_valid_from, strategy.scd_valid_to
    closing, opened = set(), []
    newest = newest_by_key(strategy, batch)
    for key, arriving in newest.items():
        versions = [row for row in table if key_of(strategy, row) == key]
        late = any(is_late(strategy, arriving, version) for version in versions)
        said = any(version[until] is None and version == version | arriving for version in versions)
        if late and strategy.scd_close_absent and all(version[until] for version in versions):
            opened.append(_newest_version(strategy, versions, arriving, blank) | {since: now})
        if not late and not said:
            closing.add(key)
            opened.append(blank | arriving | {since: now})
    if strategy.scd_close_absent:
        closing |= {key_of(strategy, row) for row in table if has_key(strategy, row)} - set(newest)
    closed = [
        row | {until: now} if row[until] is None and key_of(strategy, row) in closing else row
        for row in table
    ]
    return closed + opened


def _newest_version(strategy: Scd2, versions: Rows, arriving: Row, blank: Row) -> Row:
    """The values of the version that is newer than what arrives; columns that batches do not have
    are NULL again.
    """
    order = strategy.order or ""
    top = max(row[order] for row in versions if row[order] is not None)
    newest = max(
        (row for row in versions if row[order] == top), key=lambda row: row[strategy.scd_valid_to]
    )
    return blank | {name: newest[name] for name in arriving}


def met(strategy: Strategy, table: Rows, batch: Rows) -> dict[str, int]:
    """What the match check must count."""
    doubled, late, gone = doubled_keys(strategy, table), 0, 0
    newest = newest_by_key(strategy, batch)
    for key, arriving in newest.items():
        rows = [row for row in table if key_of(strategy, row) == key]
        if any(is_late(strategy, arriving, row) for row in rows):
            late += 1
            gone += not any(holds(strategy, row) for row in rows)
    return {"doubled": len(doubled & set(newest)), "late": late, "gone": gone}


def doubled_keys(strategy: Strategy, table: Rows) -> set[tuple[Any, ...]]:
    """Keys of which several rows of the table hold."""
    keys = [
        key_of(strategy, row) for row in table if has_key(strategy, row) and holds(strategy, row)
    ]
    return {key for key in keys if keys.count(key) > 1}


def holds(strategy: Strategy, row: Row) -> bool:
    return not isinstance(strategy, Scd2) or row[strategy.scd_valid_to] is None


def is_late(strategy: Strategy, arriving: Row, present: Row) -> bool:
    """Whether the table's row is known to be newer."""
    if strategy.order is None or present[strategy.order] is None:
        return False
    return arriving[strategy.order] is None or bool(
        arriving[strategy.order] < present[strategy.order]
    )


def newest_by_key(strategy: Strategy, batch: Rows) -> dict[tuple[Any, ...], Row]:
    return {key: rows[0] for key, rows in _newest_rows(strategy, batch).items()}


def judged(strategy: Strategy, batch: Rows) -> dict[str, int]:
    """What the key checks must count."""
    by_key = _by_key(strategy, batch)
    return {
        "rows": len(batch),
        "null_keys": sum(not has_key(strategy, row) for row in batch),
        "keys": len(by_key),
        "repeated": sum(len(rows) > 1 for rows in by_key.values()),
        "tied": len(tied_keys(strategy, batch)),
    }


def refusals(strategy: Strategy, batch: Rows) -> set[str]:
    """Why a batch may not enter; empty: it may."""
    if not strategy.keys:
        return set()
    allowed = (
        {"rows", "keys"}
        if strategy.one_row_per_key and not strategy.order
        else {"rows", "keys", "repeated"}
    )
    return {
        kind for kind, count in judged(strategy, batch).items() if count and kind not in allowed
    }


def tied_keys(strategy: Strategy, batch: Rows) -> set[tuple[Any, ...]]:
    if strategy.order is None:
        return set()
    return {
        key
        for key, rows in _newest_rows(strategy, batch).items()
        if any(row != rows[0] for row in rows)
    }


def fit_part(strategy: Strategy, batch: Rows) -> Rows:
    """The batch without the rows for which it would be refused: one row of a key that may not have
    several.
    """
    if not strategy.keys:
        return batch
    alone = (
        tied_keys(strategy, batch)
        if strategy.order or not strategy.one_row_per_key
        else set(_by_key(strategy, batch))
    )
    seen, kept = set(), []
    for row in batch:
        key = key_of(strategy, row)
        if has_key(strategy, row) and not (key in seen and key in alone):
            kept.append(row)
        seen.add(key)
    return kept


def key_of(strategy: Strategy, row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in strategy.keys)


def has_key(strategy: Strategy, row: Row) -> bool:
    return None not in key_of(strategy, row)


def _by_key(strategy: Strategy, batch: Rows) -> dict[tuple[Any, ...], Rows]:
    groups = defaultdict(list)
    for row in batch:
        if has_key(strategy, row):
            groups[key_of(strategy, row)].append(row)
    return groups


def _newest_rows(strategy: Strategy, batch: Rows) -> dict[tuple[Any, ...], Rows]:
    """Of each key the rows that no other is newer than; without a value in the order is oldest of
    all.
    """
    order = strategy.order
    if order is None:
        return _by_key(strategy, batch)
    newest = {}
    for key, rows in _by_key(strategy, batch).items():
        values = [row[order] for row in rows if row[order] is not None]
        top = max(values) if values else None
        newest[key] = [row for row in rows if row[order] == top]
    return newest
