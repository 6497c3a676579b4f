"""Every strategy on real Spark and Iceberg, against the oracle."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from lakebed.errors import BadBatch
from lakebed.ports import Field
from lakebed.tables.merging.keys import (
    merge_counts,
    offending_keys_query,
    require_valid_keys,
    row_counts,
    violations,
)
from lakebed.tables.merging.matches import duplicate_keys_query as doubled_keys_of
from lakebed.tables.merging.matches import (
    matched_once,
    merge_shows_duplicates,
    refuse_duplicate_keys,
)
from lakebed.tables.merging.strategies import (
    ALIASES,
    STRATEGIES,
    AppendOnly,
    DeleteInsert,
    FullRefresh,
    Incremental,
    InsertOverwrite,
    Scd2,
    SoftDelete,
    Strategy,
)
from tests.support.lakes.strategy_lab import ONLY_HERE, STAGED, Lab
from tests.support.scale import SCALE, rotated
from tests.tables.oracle import (
    Row,
    Rows,
    doubled_keys,
    expected,
    fit_part,
    judged,
    key_of,
    met,
    refusals,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHAPES = ("fit", "empty", "any", "fit") * SCALE

PLAIN = (
    Field("id", "bigint"),
    Field("day", "date"),
    Field("at", "int"),
    Field("name", "string"),
    Field("tags", "map<string,int>"),
)
ODD = (
    Field("s", "bigint"),
    Field("a.b`c#", "date"),
    Field("select", "int"),
    Field("_mark", "string"),
    Field("_place", "array<int>"),
)

# Beside each strategy the columns of its batches, and whether its table begins with rows written
# manually.
CASES: dict[str, tuple[Strategy, tuple[Field, ...], bool]] = {
    "full_refresh": (FullRefresh(), PLAIN, True),
    "append_only": (AppendOnly(), ODD, False),
    "incremental": (Incremental(unique_key=("s", "a.b`c#")), ODD, True),
    "incremental in order": (Incremental(unique_key=("id",), watermark_column="at"), PLAIN, False),
    "delete_insert": (DeleteInsert(unique_key=("id", "day")), PLAIN, False),
    "delete_insert of one key": (DeleteInsert(unique_key=("s",)), ODD, True),
    "snapshot": (InsertOverwrite(partition_column="day"), PLAIN, False),
    "snapshot of odd names": (InsertOverwrite(partition_column="a.b`c#"), ODD, True),
    "scd2": (Scd2(unique_key=("id",)), PLAIN, True),
    "scd2 in order": (
        Scd2(unique_key=("s",), watermark_column="select", scd_valid_from="h", scd_valid_to="b"),
        ODD,
        False,
    ),
    "scd2 that closes": (
        Scd2(unique_key=("id", "day"), watermark_column="at", scd_close_absent=True),
        PLAIN,
        True,
    ),
    "soft_delete": (SoftDelete(unique_key=("id",)), PLAIN, False),
    "soft_delete in order": (
        SoftDelete(unique_key=("s", "a.b`c#"), watermark_column="select"),
        ODD,
        True,
    ),
}


def random_row(rng: Random, fields: Sequence[Field]) -> Row:
    values: dict[str, Any] = {
        "bigint": rng.choice([*range(15), None]),
        "date": rng.choice(
            [date(2026, 1, 1), date(2026, 1, 2), None if rng.random() < 0.2 else date(2026, 1, 3)]
        ),
        "int": rng.choice([None, *range(9)]),
        "string": rng.choice([None, "", "a", "b"]),
        "map<string,int>": rng.choice(
            [None, {}, {"x": 1, "y": None}, {"y": None, "x": 1}, {"x": 2}]
        ),
        "array<int>": rng.choice([None, [], [None, 1], [1, None]]),
    }
    return {field.name: values[field.type] for field in fields}


def random_batch(
    rng: Random, strategy: Strategy, fields: Sequence[Field], shape: str, *, table: Rows
) -> Rows:
    """Rows from nowhere, rows of the table once more, some with another text, and some
    rows twice.
    """
    if shape == "empty":
        return []
    batch = [random_row(rng, fields) for _ in range(rng.randint(8, 24))]
    for row in rng.sample(table, len(table) // 2):
        text = random_row(rng, fields[3:4]) if rng.random() < 0.5 else {}
        batch.append({field.name: row[field.name] for field in fields} | text)
    batch += [dict(row) for row in batch if rng.random() < 0.2]
    rng.shuffle(batch)
    if shape != "fit":
        return batch
    doubled = doubled_keys(strategy, table) if strategy.one_row_per_key else set()
    return [row for row in fit_part(strategy, batch) if key_of(strategy, row) not in doubled]


def random_start(rng: Random, strategy: Strategy, fields: Sequence[Field]) -> Rows:
    """Rows that somebody wrote by hand: with repeated and NULL keys, and with values where no batch
    has any.
    """
    own = dict.fromkeys(name for name, _ in strategy.own_columns)
    return [random_row(rng, fields) | {ONLY_HERE: "kept"} | own for _ in range(8)]


@pytest.mark.spark
@pytest.mark.parametrize("name", rotated(list(CASES), 9))
def test_every_strategy_agrees_with_its_oracle(spark: "SparkSession", name: str) -> None:
    strategy, fields, by_hand = CASES[name]
    lab = Lab(spark, strategy, fields, branch=not by_hand)
    rng = Random(name)
    rows = random_start(rng, strategy, fields) if by_hand else []
    if by_hand:
        lab.put(rows)
    for number, shape in enumerate(SHAPES):
        batch = random_batch(rng, strategy, fields, shape, table=rows)
        lab.stage(batch)
        counts, meant, bad = lab.check(), judged(strategy, batch), refusals(strategy, batch)
        assert counts == {word: meant[word] for word in counts}
        assert set(violations(strategy, counts)) == bad
        if bad:
            refuse(lab, counts)
            continue
        found = lab.matches()
        assert found == (met(strategy, rows, batch) if strategy.one_row_per_key else {})
        if found.get("doubled"):
            refuse_there(lab, found["doubled"])
            continue
        now = f"2026-01-01 00:00:00.{number:05}1"
        lab.write(now=now, repeats=counts.get("keys") != counts.get("rows"))
        before, rows = len(rows), expected(strategy, rows, batch, columns=lab.columns, now=now)
        assert in_order(lab.held()) == in_order(rows), (number, batch)
        told = row_counts(
            strategy,
            lab.summary(),
            staged_rows=len(batch),
            distinct_keys=counts.get("keys"),
            met=found,
        )
        assert len(rows) - before == grown(told)
        if merge_shows_duplicates(strategy) and batch:
            assert matched_once(merge_counts(strategy, lab.summary()), arrived=len(batch))
        if strategy.one_row_per_key:
            reopened = (
                found["gone"] if isinstance(strategy, Scd2) and strategy.scd_close_absent else 0
            )
            same = told["unchanged"] - reopened if isinstance(strategy, Scd2) else told["updated"]
            assert told["inserted"] + same + told.get("late", 0) + told.get("superseded", 0) == len(
                batch
            )
            assert told.get("late") == (found["late"] if strategy.order else None)


@pytest.mark.spark
@pytest.mark.parametrize("kind", [Incremental, SoftDelete])
def test_a_merge_shows_keys_that_the_table_has_twice(
    spark: "SparkSession", kind: type[Incremental | SoftDelete]
) -> None:
    """A run that merges before it looks finds as many as one that looks before."""
    strategy, fields = kind(unique_key=("id",)), (Field("id", "bigint"), Field("name", "string"))
    lab = Lab(spark, strategy, fields, branch=False)
    lab.put([lab.blank | {"id": key, "name": "old"} for key in (1, 1, 2, 3)])
    lab.stage([{"id": key, "name": "new"} for key in (1, 2, 4, 5)])
    before = lab.matches()
    lab.write(now="2026-01-01 00:00:00", repeats=False)
    assert merge_shows_duplicates(strategy)
    assert not matched_once(merge_counts(strategy, lab.summary()), arrived=4)
    assert lab.matches() == before == {"doubled": 1, "late": 0, "gone": 0}


def test_counts_that_are_not_known_prove_nothing() -> None:
    assert not matched_once({"inserted": 4}, arrived=4)
    assert not matched_once({}, arrived=0)


def in_order(rows: Rows) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)


def refuse(lab: Lab, counts: Mapping[str, int]) -> None:
    examples = lab.rows(
        offending_keys_query(lab.strategy, counts, staged=STAGED, columns=lab.fields)
    )
    assert {example["offence"] for example in examples} == set(violations(lab.strategy, counts))
    with pytest.raises(BadBatch):
        require_valid_keys(lab.strategy, counts, examples, table="shop.silver.t")


def refuse_there(lab: Lab, count: int) -> None:
    examples = lab.rows(doubled_keys_of(lab.strategy, target=lab.target, staged=STAGED))
    assert 0 < len(examples) <= count
    with pytest.raises(BadBatch, match="several"):
        refuse_duplicate_keys(lab.strategy, count, examples, table="shop.silver.t")


def grown(counts: Mapping[str, int]) -> int:
    return counts["inserted"] - (0 if "updated" in counts else counts["deleted"])


def test_every_alias_names_a_strategy() -> None:
    assert set(ALIASES.values()) <= set(STRATEGIES)
    assert not set(ALIASES) & set(STRATEGIES)
    assert all(kind.model_fields["strategy"].default == name for name, kind in STRATEGIES.items())


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("incremental", {}),
        ("scd2", {"unique_key": ()}),
        ("snapshot", {}),
        ("full_refresh", {"unique_key": ("id",)}),
        ("scd2", {"unique_key": ("id",), "scd_valid_from": "At", "scd_valid_to": "at"}),
    ],
)
def test_a_mix_that_makes_no_sense_cannot_be_written_down(
    name: str, settings: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        STRATEGIES[name](**settings)
