"""Replacing the rows that match a condition: what a frame may bring, and how it is written. Pure.

It is one MERGE, hence one commit, and exact to the row. Iceberg's own overwrite by a filter is not:
it refuses to replace part of a file, and `a <> 1` of its filters also means rows without `a`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.errors import BadBatch
from lakebed.names import spark_identifier
from lakebed.ports import Field
from lakebed.tables.merging.merge import same_key
from lakebed.tables.merging.row_equality import comparable, free_name

EXAMPLES = 5
_LONGEST = 200  # characters of a condition or an example
_SPREAD = 16  # tasks that share the rows
_SPREAD_BY = 3  # columns are enough to spread rows evenly


@dataclass(frozen=True)
class OverwriteMerge:
    """The parts of a MERGE, as expressions of Spark SQL over a source of two columns.

    The source has the arriving rows, with marks below 0, and a row for each mark from 0 on, which
    divide the replaced rows among tasks. The join compares marks for equality: otherwise every
    arriving row would be compared with every replaced one.
    """

    mark: str
    row: str
    spread: int
    arriving: str  # the mark of an arriving row
    condition: str
    values: Mapping[str, str]

    @property
    def is_arriving(self) -> str:
        return f"{self.mark} < 0"


def overwrite_merge(
    arriving: Sequence[Field], table: Sequence[Field], *, where: str
) -> OverwriteMerge:
    """Replace the rows of a table for which `where` is true by arriving ones.

    The arriving columns are among the table's. In the source they are fields of one column, so that
    the condition's names can only mean the table.
    """
    mark, row = free_name("_mark", table), free_name("_row", table)
    telling = [comparable(spark_identifier(c.name), c.type) for c in arriving[:_SPREAD_BY]]
    share = f"pmod(hash({', '.join(telling)}), {_SPREAD})"
    names = [spark_identifier(column.name) for column in arriving]
    return OverwriteMerge(
        mark=mark,
        row=row,
        spread=_SPREAD,
        arriving=f"-1 - {share}",
        condition=f"(\n{where}\n) AND {share} = {mark}",
        values={name: f"{row}.{name}" for name in names},
    )


def outside_query(rows: str, where: str) -> str:
    """A query of one row: how many rows are `outside` of the condition, NULL counting as
    outside.
    """
    return f"SELECT count(*) AS outside FROM {rows} WHERE {_outside(where)}"


def outside_examples(rows: str, where: str, columns: Sequence[str]) -> str:
    """A query for some rows outside of the condition: the columns it uses as JSON, `example`, and
    how many `rows` have them.
    """
    used = ", ".join(map(spark_identifier, columns))
    example = f"to_json(struct({used}), map('ignoreNullFields', 'false'))" if used else "'{}'"
    return (
        f"SELECT example, count(*) AS rows FROM (SELECT {example} AS example FROM {rows} WHERE"
        f" {_outside(where)})\nGROUP BY example ORDER BY rows DESC, example LIMIT {EXAMPLES}"
    )


def _outside(where: str) -> str:
    return f"NOT coalesce((\n{where}\n), FALSE)"


def keys_elsewhere_query(keys: Sequence[str], *, where: str, target: str, staged: str) -> str:
    """A query for some arriving keys that rows of the table outside of the range have: `example`
    (the key as JSON), and in how many `rows`.
    """
    listed = ", ".join(map(spark_identifier, keys))
    return (
        f"SELECT to_json(struct({listed})) AS example, count(*) AS rows FROM (SELECT {listed} FROM"
        f" {target} WHERE {_outside(where)}) t\nLEFT SEMI JOIN {staged} s ON"
        f" {same_key(keys)} GROUP BY {listed} ORDER BY rows DESC, example LIMIT {EXAMPLES}"
    )


def refuse_keys_elsewhere(
    keys: Sequence[str], examples: Sequence[Mapping[str, Any]], *, column: str, table: str
) -> None:
    """Raise for arriving keys that the table has outside of the range, naming some of them."""
    shown = ", ".join(_short(one["example"]) for one in examples)
    raise BadBatch(
        f"the range brings keys ({', '.join(keys)}) that rows of the table outside of it"
        f" have, too: {shown}.",
        where=table,
        safe="The table is unchanged.",
        next=(
            f"Backfill over a column that never changes for a key, unlike {column}: set"
            " batch_column; or rebuild the table (--full-refresh)."
        ),
    )


def refuse_outside(
    outside: int,
    examples: Sequence[Mapping[str, Any]],
    *,
    where: str,
    table: str,
    next: str = "Leave such rows out, or widen the condition.",
) -> None:
    """Raise for rows outside of the condition, naming some of them."""
    shown = ", ".join(f"{_short(one['example'])} ({one['rows']}×)" for one in examples)
    are = "row is" if outside == 1 else "rows are"
    raise BadBatch(
        f"{outside} {are} outside of what is replaced ({_short(where)}): {shown}.",
        where=table,
        safe="The table is unchanged.",
        next=next,
    )


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
