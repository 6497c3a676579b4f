"""Every change of a table's columns and layout under every policy, on real Spark and Iceberg."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lakebed.pipelines.planning.plan_text import step_text
from lakebed.ports import RunRecord
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import rotated

pytestmark = pytest.mark.spark

STRATEGIES = {
    "full": "merge_strategy: full_refresh",
    "merge": "merge_strategy: incremental\nunique_key: id",
}
POLICIES = ("fail", "append", "sync")
BEFORE = (
    "SELECT id, id * 10 AS v, 'old' AS note, named_struct('a', id) AS s FROM VALUES (1), (2) AS"
    " t(id)"
)
ROWS = [
    {"id": 1, "v": 10, "note": "old", "s": {"a": 1}},
    {"id": 2, "v": 20, "note": "old", "s": {"a": 2}},
]


@dataclass(frozen=True)
class Change:
    """What the result selects of ids 2 and 3 the second time, and what becomes of the table."""

    select: str
    columns: dict[str, str]  # by policy: names in order; absent: refused
    refused: str = ""
    config: str = ""

    @property
    def query(self) -> str:
        return f"SELECT {self.select} FROM VALUES (2), (3) AS t(id)"


OLD, S = "id, v, note, s", "named_struct('a', id) AS s"
CHANGES = {
    "add": Change(
        f"id, id AS v, 'new' AS note, {S}, 1.5D AS extra",
        dict.fromkeys(("append", "sync"), f"{OLD}, extra"),
        "new: extra double",
    ),
    "widen": Change(
        f"id, id + 3000000000 AS v, 'new' AS note, {S}",
        dict.fromkeys(("append", "sync"), OLD),
        "wider: v bigint",
    ),
    "rename": Change(
        f"id, id AS v, 'new' AS remark, {S}",
        dict.fromkeys(POLICIES, "id, v, remark, s"),
        config="rename: note -> remark",
    ),
    "drop": Change(
        f"id, id AS v, {S}", {"append": OLD, "sync": "id, v, s"}, "missing: note string"
    ),
    "reorder": Change(
        f"{S}, 'new' AS note, id AS v, id", {"fail": OLD, "append": OLD, "sync": "s, note, v, id"}
    ),
    "retype": Change(
        f"id, 'n' || id AS v, 'new' AS note, {S}",
        {"sync full": OLD},
        "'v' is int in the table and string",
    ),
    "nested-add": Change(
        "id, id AS v, 'new' AS note, named_struct('b', 'in', 'a', id) AS s",
        dict.fromkeys(("append", "sync"), OLD),
        "new: s.b string",
    ),
    "nested-widen": Change(
        "id, id AS v, 'new' AS note, named_struct('a', id + 3000000000) AS s",
        dict.fromkeys(("append", "sync"), OLD),
        "wider: s.a bigint",
    ),
    "nested-drop": Change(
        "id, id AS v, 'new' AS note, named_struct('b', 'in') AS s",
        {"sync full": OLD},
        "lacks the field 'a'",
    ),
}
ALL_CASES = [
    (change, policy, strategy)
    for change in CHANGES
    for policy in POLICIES
    for strategy in STRATEGIES
    if change not in {"nested-widen", "nested-drop"}
    or (policy == "sync") == (change == "nested-drop")
]
CASES = rotated(ALL_CASES, 16)


def values(change: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row of the second batch, as its query makes it."""
    number = row["id"]
    made: dict[str, Any] = {"id": number, "v": number, "note": "new", "s": {"a": number}}
    changed: dict[str, dict[str, Any]] = {
        "add": {"extra": 1.5},
        "widen": {"v": number + 3000000000},
        "rename": {"remark": "new"},
        "retype": {"v": f"n{number}"},
        "nested-add": {"s": {"a": number, "b": "in"}},
        "nested-widen": {"s": {"a": number + 3000000000}},
        "nested-drop": {"s": {"b": "in"}},
    }
    return made | changed.get(change, {})


@dataclass
class Evolved:
    """A lake in which every case had its first and its second run."""

    lake: TestLake
    first: dict[str, RunRecord]
    second: dict[str, RunRecord]
    files: set[str]


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[Evolved]:
    made = TestLake(tmp_path_factory.mktemp("schemas") / "lake")
    for change, policy, strategy in CASES:
        made.pipeline(f"silver.{change}-{policy}-{strategy}", BEFORE, STRATEGIES["full"])
    first = made.run(threads=2)
    files = made.files()
    for change, policy, strategy in CASES:
        told = CHANGES[change]
        gates = (
            {"named": "SELECT id FROM {{ this }} WHERE remark IS NULL"}
            if change == "rename"
            else None
        )
        config = f"{STRATEGIES[strategy]}\non_schema_change: {policy}\n{told.config}"
        made.pipeline(f"silver.{change}-{policy}-{strategy}", told.query, config, gates=gates)
    yield Evolved(made, first, made.run(threads=2), files)
    made.lake.close()


@pytest.mark.parametrize(("change", "policy", "strategy"), CASES)
def test_a_change_of_columns_under_a_policy(
    evolved: Evolved, change: str, policy: str, strategy: str
) -> None:
    name, told = f"silver.{change}-{policy}-{strategy}", CHANGES[change]
    assert evolved.first[name].state == "success", evolved.first[name].error
    record = evolved.second[name]
    columns = told.columns.get(policy) or told.columns.get(f"{policy} {strategy}")
    if columns is None:
        assert (record.state, record.error["kind"]) == ("failed", "BadBatch")
        assert told.refused in record.error["what"]
        assert evolved.lake.rows(name) == ROWS
        written = {
            file
            for file in evolved.lake.files() - evolved.files
            if f"warehouse/{name.replace('.', '/')}/" in file
        }
        assert written == set()
        return
    assert record.state == "success", record.error
    names = columns.split(", ")
    assert [
        column.name
        for column in evolved.lake.lake.tables.describe(evolved.lake.table(name)).columns
    ] == names
    found = {row["id"]: row for row in evolved.lake.rows(name)}
    assert set(found) == ({1, 2, 3} if strategy == "merge" else {2, 3})
    for number in (2, 3):
        kept = (
            {"note": "old" if number == 2 and strategy == "merge" else None}
            if change == "drop"
            else {}
        )
        expected = values(change, {"id": number}) | kept
        assert found[number] == {column: expected.get(column) for column in names}
    if strategy == "merge":
        inner = {"a": 1, "b": None} if change == "nested-add" else {"a": 1}
        old = {"id": 1, "v": 10, "note": "old", "remark": "old", "s": inner}
        assert found[1] == {column: old.get(column) for column in names}


def test_nothing_hidden_is_left(evolved: Evolved) -> None:
    assert evolved.lake.hidden() == []


UPSERT = STRATEGIES["merge"]
KEYED = "SELECT * FROM VALUES {} AS t({})"


def columns(shop: TestLake, name: str) -> list[str]:
    return [column.name for column in shop.lake.tables.describe(shop.table(name)).columns]


def test_a_rename_of_key_watermark_partition_and_order_keeps_every_value_and_its_past(
    shop: TestLake,
) -> None:
    before = (
        f"{UPSERT.replace('id', 'cust')}\nwatermark_column: at\npartition_by: cust\nsort_by: at"
        " desc"
    )
    shop.pipeline("silver.a", KEYED.format("(1, 5, 'x'), (2, 5, 'y')", "cust, at, note"), before)
    shop.run_one("silver.a")
    old = shop.lake.tables.describe(shop.table("silver.a"))
    query = (
        "-- @rename: at -> seen_at\nSELECT * FROM VALUES (2, 9, 'z'), (3, 9, 'w'), (1, 4, 'late')"
        " AS t(customer, seen_at, note)\nWHERE customer NOT IN (SELECT customer FROM {{ this }}"
        " WHERE seen_at > 100)\n{% if is_incremental() %}AND seen_at >= {{ watermark }} - 1 {%"
        " endif %}"
    )
    after = (
        f"{UPSERT.replace('id', 'customer')}\nwatermark_column: seen_at\n"
        "partition_by: bucket(4, customer)\nsort_by: seen_at desc\n"
        "columns:\n  customer:\n    renamed_from: cust\n    tests: [not_null, unique]\n"
    )
    gates = {"known": "SELECT customer FROM {{ this }} t WHERE t.seen_at IS NULL"}
    shop.pipeline("silver.a", query, after, gates=gates)
    (plan,) = shop.lake.plan("silver.a")
    said = [step_text(step) for step in plan.steps]
    assert "no longer partition by cust, partition by bucket(4, cust): new files only" in said
    assert any(line.endswith("publishing renames at to seen_at, cust to customer") for line in said)
    shop.run_one("silver.a")
    new = shop.lake.tables.describe(shop.table("silver.a"))
    assert columns(shop, "silver.a") == ["customer", "seen_at", "note"]
    assert [column.id for column in new.columns] == [column.id for column in old.columns]
    assert (new.partition_by, new.sort_by) == (("bucket(4, customer)",), ("seen_at desc",))
    rows = {row["customer"]: (row["seen_at"], row["note"]) for row in shop.rows("silver.a")}
    assert rows == {1: (5, "x"), 2: (9, "z"), 3: (9, "w")}
    head, base = new.head(), old.head()
    assert head
    assert base
    spark = shop.lake.spark
    assert spark.sql(f"SELECT * FROM lake.shop.silver.a VERSION AS OF {base.id}").columns == [
        "cust",
        "at",
        "note",
    ]
    assert spark.sql(f"SELECT * FROM lake.shop.silver.a VERSION AS OF {head.id}").columns == [
        "customer",
        "seen_at",
        "note",
    ]
    assert shop.lake.plan("silver.a")[0].steps  # the annotation may stay
    shop.run_one("silver.a")
    assert columns(shop, "silver.a") == ["customer", "seen_at", "note"]


@pytest.mark.parametrize(
    ("strategy", "rows"),
    [
        ("append_only", [(1, "x", 1), (2, "y", 1), (2, "z", 2), (3, "w", 2)]),
        ("delete_insert\nunique_key: {id}", [(1, "x", 1), (2, "z", 2), (3, "w", 2)]),
        (
            "scd2\nunique_key: {id}\nwatermark_column: {at}",
            [(1, "x", 1), (2, "y", 1), (2, "z", 2), (3, "w", 2)],
        ),
        ("snapshot\npartition_column: {id}", [(1, "x", 1), (2, "z", 2), (3, "w", 2)]),
        (
            "soft_delete\nunique_key: {id}\nwatermark_column: {at}",
            [(1, "x", 1), (2, "z", 2), (3, "w", 2)],
        ),
    ],
    ids=lambda given: given.split("\n")[0] if isinstance(given, str) else "",
)
def test_every_strategy_writes_under_names_that_are_due(
    shop: TestLake, strategy: str, rows: list[tuple[Any, ...]]
) -> None:
    config = f"merge_strategy: {strategy}"
    shop.pipeline(
        "silver.a",
        KEYED.format("(1, 'x', 1), (2, 'y', 1)", "id, note, at"),
        config.format(id="id", at="at"),
    )
    shop.run_one("silver.a")
    query = "-- @rename: id -> key, at -> seen\n" + KEYED.format(
        "(2, 'z', 2), (3, 'w', 2)", "key, note, seen"
    )
    shop.pipeline("silver.a", query, config.format(id="key", at="seen"))
    shop.run_one("silver.a")
    assert sorted((row["key"], row["note"], row["seen"]) for row in shop.rows("silver.a")) == rows


def test_a_gate_that_fails_after_a_rename_leaves_schema_and_rows_as_they_were(
    shop: TestLake,
) -> None:
    shop.pipeline("silver.a", KEYED.format("(1, 1)", "id, amount"))
    shop.run_one("silver.a")
    before, rows = shop.lake.tables.describe(shop.table("silver.a")), shop.rows("silver.a")
    gates = {"positive": "SELECT total FROM {{ this }} WHERE total < 0"}
    shop.pipeline(
        "silver.a",
        KEYED.format("('n', -1, 'x')", "id, total, extra"),
        "rename: {amount: total}",
        gates=gates,
    )
    record = shop.run("silver.a")["silver.a"]
    assert (record.state, record.error["kind"]) == ("failed", "GateFailed")
    assert record.verdicts[0].sample == ({"total": -1},)
    after = shop.lake.tables.describe(shop.table("silver.a"))
    assert (after.columns, after.schema, after.head()) == (
        before.columns,
        before.schema,
        before.head(),
    )
    assert shop.rows("silver.a") == rows


def test_those_who_read_a_renamed_table_see_the_new_name_in_the_same_build_and_in_the_next(
    shop: TestLake,
) -> None:
    shop.pipeline("silver.a", KEYED.format("(1, 1, 'x')", "id, amount, gone"))
    shop.pipeline("silver.b", "SELECT id, amount FROM {{ ref('silver.a') }}")
    shop.run()
    shop.pipeline(
        "silver.a", "-- @rename: amount -> total\n" + KEYED.format("(2, 2, 7)", "id, total, gone")
    )
    shop.pipeline(
        "silver.b",
        "-- @rename: amount -> total\nSELECT id, total, gone + 1 AS more FROM {{"
        " ref('silver.a') }}",
    )
    code = (
        'def run(conn, context):\n    return conn.sql(f"SELECT id, total FROM'
        " {context.ref('silver.a')}\")"
    )
    shop.pipeline("silver.c", code)
    records = shop.run(together=True)
    assert {record.state for record in records.values()} == {"success"}, [
        record.error for record in records.values()
    ]
    assert shop.rows("silver.b") == [{"id": 2, "total": 2, "more": 8}]
    assert shop.rows("silver.c") == [{"id": 2, "total": 2}]
    shop.run_one("silver.b")
    assert shop.rows("silver.b") == [{"id": 2, "total": 2, "more": 8}]


def test_a_column_altered_by_hand_is_read_under_its_new_name_before_any_commit(
    shop: TestLake,
) -> None:
    shop.pipeline("silver.a", KEYED.format("(1, 1)", "id, amount"))
    shop.run_one("silver.a")
    for change in ("RENAME COLUMN amount TO total", "ADD COLUMNS (tags array<string>)"):
        shop.lake.spark.sql(f"ALTER TABLE lake.shop.silver.a {change}")
    shop.pipeline("silver.b", "SELECT * FROM {{ ref('silver.a') }}")
    shop.run_one("silver.b")
    assert shop.rows("silver.b") == [{"id": 1, "total": 1}]


@pytest.mark.parametrize(
    ("rename", "result", "said"),
    [
        ("nothing -> total", "id, total", "the table has neither column"),
        ("amount -> id", "id, amount", "the table has both columns"),
        ("amount -> total", "total, amount", "the result still has a column 'amount'"),
        ("amount -> total", "id, sum", "the result has no column 'total'"),
    ],
)
def test_a_rename_that_cannot_be_meant_is_refused(
    shop: TestLake, rename: str, result: str, said: str
) -> None:
    shop.pipeline("silver.a", KEYED.format("(1, 1)", "id, amount"), STRATEGIES["full"])
    shop.run_one("silver.a")
    shop.pipeline("silver.a", KEYED.format("(2, 2)", result), f"rename: {rename}")
    record = shop.run("silver.a")["silver.a"]
    assert record.state == "failed"
    assert said in record.error["what"]
    assert columns(shop, "silver.a") == ["id", "amount"]
    assert shop.rows("silver.a") == [{"id": 1, "amount": 1}]


def test_a_full_refresh_of_a_merged_table_replaces_a_type_and_an_empty_result_that_is_skipped_does_not(
    shop: TestLake,
) -> None:
    shop.pipeline("silver.a", KEYED.format("(1, 1)", "id, v"), f"{UPSERT}\non_schema_change: sync")
    shop.run_one("silver.a")
    shop.pipeline("silver.a", KEYED.format("(1, 'x', 2)", "id, v, w"))
    assert "full-refresh" in shop.run("silver.a")["silver.a"].error["next"]
    shop.run_one("silver.a", full_refresh=True)
    assert shop.rows("silver.a") == [{"id": 1, "v": "x", "w": 2}]
    empty = KEYED.format("(1, 1, 2)", "id, v, w") + " WHERE id > 5"
    shop.pipeline("silver.a", empty, "on_empty: skip\non_schema_change: sync")
    before = shop.lake.tables.describe(shop.table("silver.a"))
    shop.run_one("silver.a")
    assert shop.lake.tables.describe(shop.table("silver.a")).columns == before.columns
    assert shop.rows("silver.a") == [{"id": 1, "v": "x", "w": 2}]


def test_the_layout_follows_what_is_said_and_stays_where_nothing_is(shop: TestLake) -> None:
    def layout(config: str) -> tuple[tuple[str, ...], tuple[str, ...], str, str | None]:
        shop.pipeline(
            "silver.a",
            KEYED.format("(1, 'x', 1), (2, 'y', 2)", "id, c, v"),
            f"{STRATEGIES['full']}\n{config}",
        )
        shop.run_one("silver.a")
        found = shop.lake.tables.describe(shop.table("silver.a"))
        properties = found.properties
        return (
            found.partition_by,
            found.sort_by,
            properties["write.parquet.row-group-size-bytes"],
            properties.get("write.distribution-mode"),
        )

    whole, small = str(128 << 20), str(1 << 20)
    assert layout("") == ((), (), whole, None)
    assert layout("partition_by: c\nsort_by: [id desc, v]") == (
        ("c",),
        ("id desc", "v asc"),
        small,
        "range",
    )
    assert layout("") == (("c",), ("id desc", "v asc"), small, "range")
    assert layout("partition_by: [c, 'bucket(4, id)']\nsort_by: []") == (
        ("c", "bucket(4, id)"),
        (),
        whole,
        None,
    )
    assert layout("partition_by: ['bucket(4, id)', c]") == (("c", "bucket(4, id)"), (), whole, None)
    assert layout("partition_by: []\nsort_by: v nulls last") == (
        (),
        ("v asc nulls last",),
        small,
        "range",
    )
    assert len(shop.rows("silver.a")) == 2
    shop.pipeline(
        "silver.a",
        KEYED.format("(1, 2)", "id, v"),
        f"{STRATEGIES['full']}\npartition_by: []\nsort_by: []",
    )
    shop.run_one("silver.a")  # c went, which only old files are divided by
    assert shop.rows("silver.a") == [{"id": 1, "v": 2}]
    shop.pipeline(
        "silver.a", KEYED.format("(1, 2)", "id, v"), f"{STRATEGIES['full']}\npartition_by: idd"
    )
    assert "names 'idd'" in shop.run("silver.a")["silver.a"].error["what"]


def test_a_contract_is_kept_or_the_result_is_refused_with_every_difference(shop: TestLake) -> None:
    contract = (
        "contract: true\ncolumns:\n  id: {type: bigint, tests: [not_null]}\n  tags: {type:"
        " 'array<struct<a: int>>'}\n"
    )
    good = "SELECT array(named_struct('a', 1)) AS tags, 1L AS id"
    shop.pipeline("silver.a", good, contract)
    shop.run_one("silver.a")
    files = shop.files()
    shop.pipeline("silver.a", "SELECT 1 AS id, 'x' AS more")
    record = shop.run("silver.a")["silver.a"]
    assert (
        record.error["what"]
        == "the result breaks the contract (missing: tags array<struct<a: int>>; not agreed: more"
        " string; of another type: id is int, not bigint)."
    )
    assert {file for file in shop.files() - files if "warehouse" in file} == set()
    shop.pipeline("silver.a", good.replace("1L", "CAST(NULL AS bigint)"))
    assert shop.run("silver.a")["silver.a"].error["kind"] == "GateFailed"
    assert [row["id"] for row in shop.rows("silver.a")] == [1]


def test_whoever_reads_a_table_in_the_midst_of_a_change_sees_its_former_columns(
    shop: TestLake,
) -> None:
    from lakebed.pipelines import RunListener

    shop.pipeline("silver.a", KEYED.format("(1, 1)", "id, v"))
    shop.pipeline("silver.b", "SELECT * FROM {{ ref('silver.a') }}")
    shop.run()
    shop.pipeline("silver.a", KEYED.format("('x', 2, 3)", "id, w, extra"), "rename: v -> w")
    seen: list[list[dict[str, Any]]] = []

    def look(run_id: str, step: object, when: str) -> None:
        if type(step).__name__ == "Publish" and when == "before":
            shop.run_one("silver.b")
            seen.append(shop.rows("silver.b"))

    shop.lake.run("silver.a", listener=RunListener(on_step=look))
    assert seen == [[{"id": 1, "v": 1}]]
    shop.run_one("silver.b")
    assert shop.rows("silver.b") == [{"id": "x", "w": 2, "extra": 3}]


@pytest.mark.parametrize("strategy", ["append_only", "incremental\nunique_key: id"])
def test_no_number_loses_digits_in_a_column_of_doubles(shop: TestLake, strategy: str) -> None:
    shop.pipeline("silver.a", "SELECT 1 AS id, 0.5D AS v", f"merge_strategy: {strategy}")
    shop.run_one("silver.a")
    shop.pipeline("silver.a", f"SELECT 2 AS id, {2**53 + 1} AS v")
    refused = shop.run("silver.a")["silver.a"]
    assert (
        refused.state,
        f"{2**53 + 1} would lose digits as a double" in refused.error["what"],
    ) == ("failed", True)
    shop.pipeline("silver.a", "SELECT 2 AS id, 7L AS v UNION ALL SELECT 3, NULL")
    shop.run_one("silver.a")
    assert [row["v"] for row in sorted(shop.rows("silver.a"), key=lambda row: str(row["id"]))] == [
        0.5,
        7.0,
        None,
    ]
