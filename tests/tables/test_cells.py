"""What every strategy makes of rows that are out of the ordinary: the table of docs/pipelines.md,
cell by cell.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lakebed.ports import Field
from lakebed.tables.merging.keys import row_counts, violations
from lakebed.tables.merging.strategies import (
    AppendOnly,
    DeleteInsert,
    FullRefresh,
    Incremental,
    InsertOverwrite,
    Scd2,
    SoftDelete,
    Strategy,
)
from tests.support.lakes.strategy_lab import ONLY_HERE, Lab
from tests.tables.oracle import Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INF, NAN = float("inf"), float("nan")
FIELDS = tuple(
    Field(*column.split())
    for column in ("id bigint", "code string", "day date", "at double", "name string")
)
KEY: dict[str, Any] = {"unique_key": ("id", "code"), "watermark_column": "at"}
STRATEGIES: dict[str, Strategy] = {
    "full_refresh": FullRefresh(),
    "append_only": AppendOnly(),
    "delete_insert": DeleteInsert(unique_key=("id", "code")),
    "snapshot": InsertOverwrite(partition_column="day"),
    "incremental": Incremental(**KEY),
    "soft_delete": SoftDelete(**KEY),
    "scd2": Scd2(**KEY),
    "scd2, scd_close_absent": Scd2(**KEY, scd_close_absent=True),
}
Given = Sequence[tuple[float | None, str]]  # rows by watermark and name

# What the table has, what arrives, and what becomes of it where the watermark decides: `wins`,
# `late` or `same`.
SITUATIONS: dict[str, tuple[Given, Given, str]] = {
    "a new key": ([], [(1, "new")], "wins"),
    "a newer row": ([(1, "old")], [(2, "new")], "wins"),
    "the same row again": ([(5, "old")], [(5, "old")], "same"),
    "a late row": ([(5, "old")], [(4, "new")], "late"),
    "a tie with the table": ([(5, "old")], [(5, "new")], "wins"),
    "equal rows in a batch": ([(1, "old")], [(5, "new"), (5, "new")], "wins"),
    "intermediate versions in a batch": ([(1, "old")], [(2, "mid"), (3, "new")], "wins"),
    "NULL as watermark": ([(5, "old")], [(None, "new")], "late"),
    "NULL as the table's watermark": ([(None, "old")], [(1, "new")], "wins"),
    "inf as the table's watermark": ([(INF, "old")], [(1e300, "new")], "late"),
    "nan as the table's watermark": ([(NAN, "old")], [(INF, "new")], "late"),
    "nan as watermark": ([(INF, "old")], [(NAN, "new")], "wins"),
    "a NULL partition": ([(1, "old")], [(2, "new")], "wins"),
    "a key that was gone, with a late row": ([(5, "old")], [(4, "new")], "returns"),
    "no row of a key": ([(5, "old")], [], "absent"),
}
BATCH_WINS = {"full_refresh", "delete_insert", "snapshot"}


def rows_of(situation: str, rows: Given) -> list[Row]:
    number = list(SITUATIONS).index(situation)
    day = None if situation == "a NULL partition" else date(2026, 1, 1 + number)
    return [
        {
            "id": number,
            "code": "",
            "day": day,
            "at": None if at is None else float(at),
            "name": name,
        }
        for at, name in rows
    ]


def outcome(name: str, situation: str) -> list[str]:
    """Names of the rows there are; `*`: the column that the batch lacks has its value, `†`: the row
    is marked or closed.
    """
    there, arriving, fate = SITUATIONS[situation]
    old, came = [f"{name}*" for _, name in there], [name for _, name in arriving]
    if name == "full_refresh" or (name in BATCH_WINS and came):
        return came
    if name in {"append_only", *BATCH_WINS}:
        return old + came
    closed, updated = (
        [f"{row}†" for row in old],
        [f"{came[-1]}*" if old else came[-1]] if came else [],
    )
    return {
        "incremental": {"wins": updated, "same": old, "late": old, "returns": old, "absent": old},
        "soft_delete": {
            "wins": updated,
            "same": old,
            "late": old,
            "returns": old,
            "absent": closed,
        },
        "scd2": {
            "wins": closed + came[-1:],
            "same": old,
            "late": old,
            "returns": closed,
            "absent": old,
        },
        "scd2, scd_close_absent": {
            "wins": closed + came[-1:],
            "same": old,
            "late": old,
            "returns": [
                *closed,
                "old",
            ],  # the newer values hold once more, as a version of their own
            "absent": closed,
        },
    }[name][fate]


COUNTS = {
    "delete_insert": {"inserted": 16, "deleted": 13},
    "snapshot": {"inserted": 16, "deleted": 13},
    "incremental": {"inserted": 1, "updated": 8, "late": 5, "superseded": 2},
    "soft_delete": {"inserted": 1, "updated": 8, "deleted": 1, "late": 5, "superseded": 2},
    "scd2": {"inserted": 8, "updated": 7, "unchanged": 1, "late": 5, "superseded": 2},
    "scd2, scd_close_absent": {
        "inserted": 9,
        "updated": 8,
        "unchanged": 1,
        "late": 5,
        "superseded": 2,
    },
}


@pytest.mark.spark
@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_does_with_unusual_rows_what_its_docs_say(
    spark: "SparkSession", name: str
) -> None:
    strategy = STRATEGIES[name]
    lab = Lab(spark, strategy, FIELDS, branch=False)
    lab.put(
        [
            lab.blank | row | {ONLY_HERE: "kept"} | _gone(strategy, at)
            for at, (there, _, _) in SITUATIONS.items()
            for row in rows_of(at, there)
        ]
    )
    batch = [
        row
        for situation, (_, arriving, _) in SITUATIONS.items()
        for row in rows_of(situation, arriving)
    ]
    lab.stage(batch)
    counts, met = lab.check(), lab.matches()
    assert violations(strategy, counts) == {}
    lab.write(now="2026-02-01 00:00:00")
    found = lab.held()
    for number, situation in enumerate(SITUATIONS):
        told = sorted(_told(row, strategy) for row in found if row["id"] == number)
        assert (situation, told) == (situation, sorted(outcome(name, situation)))
    if name in COUNTS:
        told_of = row_counts(
            strategy,
            lab.summary(),
            staged_rows=len(batch),
            distinct_keys=counts.get("keys"),
            met=met,
        )
        assert told_of == COUNTS[name]

    lab.stage(
        [
            *rows_of("a newer row", [(9, "one"), (9, "other")]),
            *rows_of("a late row", [(9, "x")]),
            {**batch[0], "code": None},
        ]
    )
    refused = (
        {"null_keys": 1, "tied": 1} if strategy.order else {"null_keys": 1} if strategy.keys else {}
    )
    assert violations(strategy, lab.check()) == refused


def _gone(strategy: Strategy, situation: str) -> Row:
    """The mark of a key that was deleted, or closed, before."""
    if not situation.startswith("a key that was gone") or not strategy.own_columns:
        return {}
    from datetime import UTC, datetime

    return {strategy.own_columns[-1][0]: datetime(2026, 1, 1, tzinfo=UTC)}


def _told(row: Row, strategy: Strategy) -> str:
    ended = bool(strategy.own_columns) and row[strategy.own_columns[-1][0]] is not None
    return f"{row['name']}{'*' if row[ONLY_HERE] else ''}{'†' if ended else ''}"


def _cells(lines: Iterable[str]) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in lines]


def test_the_docs_speak_of_every_strategy_and_of_every_situation() -> None:
    text = (
        (Path(__file__).parents[2] / "docs" / "pipelines.md")
        .read_text()
        .split("| A batch with |", 1)[1]
        .split("\n\n", 1)[0]
    )
    head, _, *rows = _cells(("A batch with |" + text).splitlines())
    named = " ".join(head)
    assert all(f"`{name}`" in named for strategy in STRATEGIES for name in strategy.split(", ")[:1])
    assert all(len(row) == len(head) and all(row) for row in rows)
    for word in (
        "NULL",
        "late",
        "tie",
        "intermediate",
        "same row",
        "NULL partition",
        "inf",
        "nan",
        '""',
        "lack a column",
        "absent",
    ):
        assert any(word.casefold() in row[0].casefold() for row in rows), word
