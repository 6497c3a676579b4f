"""How two snapshots of a table differ: columns by field id, rows by key, and figures of each
column. Pure.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lakebed.names import spark_identifier
from lakebed.ports import Column, Field, Snapshot
from lakebed.tables.merging.row_equality import comparable, other_columns, rows_equal
from lakebed.tables.statements import string_literal
from lakebed.types import read_iceberg_type

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_UNORDERED = ("map", "array", "struct", "binary", "variant")


@dataclass(frozen=True)
class ColumnChange:
    """A column that was added, removed, renamed, moved, or given another type."""

    kind: str  # added, removed, renamed, retyped, moved
    name: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class ColumnFigures:
    """A column in both snapshots: its NULLs, distinct values, minimum and maximum."""

    column: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    @property
    def differs(self) -> bool:
        return dict(self.before) != dict(self.after)


@dataclass(frozen=True)
class Example:
    """A row before and after; None where it does not exist."""

    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True)
class TableDiff:
    """What differs between two snapshots.

    Without a key, rows are added or removed, never changed.
    """

    before: Snapshot
    after: Snapshot
    columns: tuple[ColumnChange, ...]
    keys: tuple[str, ...]
    rows: Mapping[str, int]  # before, after, added, removed, changed, same
    figures: tuple[ColumnFigures, ...]
    examples: Mapping[str, tuple[Example, ...]]


def column_changes(before: Sequence[Column], after: Sequence[Column]) -> tuple[ColumnChange, ...]:
    """By field id: a column that was dropped and added again under its name is a different
    column.
    """
    old, new = {column.id: column for column in before}, {column.id: column for column in after}
    gone = [
        ColumnChange("removed", column.name, before=_spelled(column))
        for id, column in old.items()
        if id not in new
    ]
    come = [
        ColumnChange("added", column.name, after=_spelled(column))
        for id, column in new.items()
        if id not in old
    ]
    both = [(old[id], new[id]) for id in new if id in old]
    renamed = [
        ColumnChange("renamed", now.name, was.name, now.name)
        for was, now in both
        if was.name != now.name
    ]
    retyped = [
        ColumnChange("retyped", now.name, _spelled(was), _spelled(now))
        for was, now in both
        if was.type != now.type
    ]
    order = [id for id in old if id in new] != [id for id in new if id in old]
    moved = [ColumnChange("moved", "", _listed(before), _listed(after))] if order else []
    return (*come, *gone, *renamed, *retyped, *moved)


def _spelled(column: Column) -> str:
    return str(read_iceberg_type(column.type))


def _listed(columns: Iterable[Column]) -> str:
    return ", ".join(column.name for column in columns)


def common_columns(
    before: Sequence[Column], after: Sequence[Column]
) -> tuple[tuple[str, str], ...]:
    """The columns that both snapshots have: the earlier and the later name of each."""
    old = {column.id: column.name for column in before}
    return tuple((old[column.id], column.name) for column in after if column.id in old)


def renamed_selection(place: str, names: Iterable[tuple[str, str]]) -> str:
    """A relation for FROM with these columns only, each under its later name."""
    listed = ", ".join(f"{spark_identifier(was)} AS {spark_identifier(now)}" for was, now in names)
    return f"(SELECT {listed} FROM {place})"


def row_counts_query(before: str, after: str, columns: Sequence[Field], keys: Sequence[str]) -> str:
    """One row: how many rows were added, removed and changed, and how many stayed the same."""
    joined = _joined(before, after, columns, keys)
    kinds = ("added", "removed", "changed", "same")
    counts = ", ".join(
        f"coalesce(sum(if(kind = '{kind}', n, 0)), 0) AS {spark_identifier(kind)}" for kind in kinds
    )
    return f"SELECT {counts} FROM ({joined})"


def examples_query(
    before: str, after: str, columns: Sequence[Field], keys: Sequence[str], kind: str
) -> str:
    """Rows that were added, removed or changed, as JSON under `before` and `after`."""
    both = ", ".join(
        f"to_json({side}, map('ignoreNullFields', 'false')) AS {side}"
        for side in ("before", "after")
    )
    return (
        f"SELECT {both} FROM ({_joined(before, after, columns, keys)}) WHERE kind ="
        f" {string_literal(kind)}"
    )


def read_row(text: str, columns: Iterable[Field]) -> dict[str, Any]:
    """A row from JSON; decimals keep every digit."""
    row: dict[str, Any] = json.loads(text)
    digits = json.loads(text, parse_float=Decimal)
    return row | {
        column.name: digits[column.name] for column in columns if "decimal" in column.type
    }


def _joined(before: str, after: str, columns: Sequence[Field], keys: Sequence[str]) -> str:
    """Rows of both snapshots side by side, with what became of each."""
    if not keys:
        return _as_bags(before, after, columns)
    rest = other_columns(columns, keys)
    on = " AND ".join(f"b.{spark_identifier(key)} <=> a.{spark_identifier(key)}" for key in keys)
    kind = (
        "CASE WHEN b._there IS NULL THEN 'added' WHEN a._there IS NULL THEN 'removed' "
        f"WHEN {rows_equal(rest, 'b', 'a')} THEN 'same' ELSE 'changed' END"
    )
    whole = {
        side: ", ".join(f"{side}.{spark_identifier(column.name)}" for column in columns)
        for side in "ba"
    }
    return (
        f"SELECT {kind} AS kind, 1 AS n, CASE WHEN b._there THEN struct({whole['b']}) END AS"
        f" before, CASE WHEN a._there THEN struct({whole['a']}) END AS after FROM (SELECT *, TRUE"
        f" AS _there FROM {before}) b FULL OUTER JOIN (SELECT *, TRUE AS _there FROM {after}) a ON"
        f" {on}"
    )


def _as_bags(before: str, after: str, columns: Sequence[Field]) -> str:
    """Without a key, rows are compared as a whole, and by how often they occur."""
    values = ", ".join(
        f"{comparable(spark_identifier(c.name), c.type)} AS {spark_identifier(c.name)}"
        for c in columns
    )
    whole = f"struct({', '.join(spark_identifier(column.name) for column in columns)})"
    sides = (
        f"SELECT {values}, -1 AS _side FROM {before} UNION ALL SELECT {values}, 1 AS _side FROM"
        f" {after}"
    )
    counted = (
        f"SELECT {whole} AS _row, sum(if(_side < 0, 1, 0)) AS _b, sum(if(_side > 0, 1, 0)) AS _a"
        f" FROM ({sides}) GROUP BY {whole}"
    )
    parts = (
        ("added", "_a - _b", "_a > _b", "NULL", "_row"),
        ("removed", "_b - _a", "_b > _a", "_row", "NULL"),
        ("same", "least(_a, _b)", "least(_a, _b) > 0", "_row", "_row"),
    )
    return " UNION ALL ".join(
        f"SELECT '{kind}' AS kind, {count} AS n, {was} AS before, {now} AS after FROM ({counted})"
        f" WHERE {condition}"
        for kind, count, condition, was, now in parts
    )


def figures_query(of: str, columns: Sequence[Field]) -> str:
    """One row: figures of every column, named `{number}_{figure}`."""
    wanted = ["count(*) AS rows"]
    for number, column in enumerate(columns):
        name, kind = spark_identifier(column.name), column.type.split("(")[0].split("<")[0]
        wanted.append(f"count_if({name} IS NULL) AS `{number}_nulls`")
        if kind not in _UNORDERED:
            wanted += [
                f"approx_count_distinct({name}, 0.01) AS `{number}_distinct`",
                f"min({name}) AS `{number}_min`",
            ]
            wanted.append(f"max({name}) AS `{number}_max`")
        if kind in _NUMBERS:
            wanted.append(f"avg({name}) AS `{number}_mean`")
    return f"SELECT {', '.join(wanted)} FROM {of}"


def read_figures(row: Mapping[str, Any], columns: Sequence[Field]) -> dict[str, dict[str, Any]]:
    """Figures by column."""
    found: dict[str, dict[str, Any]] = {column.name: {} for column in columns}
    for key, value in row.items():
        number, _, figure = key.partition("_")
        if number.isdigit():
            found[columns[int(number)].name][figure] = value
    return found
