"""Whether a pipeline over zones has something to do: decided from what was found, without
a lake.
"""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lakebed.names import TableName, ZoneName
from lakebed.pipelines.definition.spec import ZoneRef
from lakebed.pipelines.planning.pins import Pins, ReplacedRule, TargetTable, ZonePin
from lakebed.pipelines.planning.run_decision import decide_run, run_warnings
from lakebed.ports import FileInfo, RunRecord, Snapshot, SnapshotRef, TableMetadata
from tests.pipelines.test_invocation import setting

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TABLE = TableName("shop", "bronze", "orders")
LAST = RunRecord("1", "1", TABLE, "success", NOW, snapshot=1, left_schema=0)


def metadata(*operations: str, schema: int = 0) -> TableMetadata:
    """A table with snapshots 1, 2, …; `main` stands at the last."""
    snapshots = {
        n: Snapshot(n, n - 1 or None, NOW, operation, {})
        for n, operation in enumerate(operations, start=1)
    }
    refs = {"main": SnapshotRef("main", len(snapshots), "branch")} if snapshots else {}
    return TableMetadata("uuid", "", 2, NOW, (), (), (), {}, snapshots, refs, schema=schema)


@pytest.mark.parametrize(
    ("table", "last", "as_left"),
    [
        (metadata("overwrite"), LAST, True),
        (metadata("overwrite", "replace", "replace"), LAST, True),  # compaction moves no row
        (metadata("overwrite", "append"), LAST, False),
        (metadata("overwrite", "append", "replace"), LAST, False),
        (metadata("overwrite", schema=1), LAST, False),  # a column was added
        (
            metadata("overwrite", "overwrite"),
            replace(LAST, snapshot=None, base=2),
            True,
        ),  # a run that changed nothing
        (metadata("overwrite", "overwrite"), replace(LAST, snapshot=None, base=1), False),
        (metadata(), replace(LAST, snapshot=None, base=None), True),
        (metadata("append"), replace(LAST, snapshot=None, base=None), False),
        (
            metadata("overwrite"),
            replace(LAST, left_schema=None),
            False,
        ),  # the record of an older Lakebed
        (metadata("overwrite"), None, False),
        (None, LAST, False),
    ],
)
def test_a_change_by_others_is_seen_and_compaction_is_none(
    table: TableMetadata | None, last: RunRecord | None, as_left: bool
) -> None:
    assert TargetTable(TABLE, table, last).is_as_left("main") is as_left


ZONE = ZoneName("shop", "orders")
FILES = (FileInfo("shop/landing/orders/1.csv", 1, "e", NOW),)
GIVEN = replace(LAST, release="r", given="g")


@pytest.mark.parametrize(
    ("strategy", "pin", "target", "runs", "reason"),
    [
        ("append_only", ZonePin(FILES, 1), TargetTable(TABLE), True, "1 new file in shop.orders"),
        ("append_only", ZonePin(FILES, 1, replaced=("1.csv",)), TargetTable(TABLE), True, "1 replaced file in shop.orders"),
        ("append_only", ZonePin(FILES * 3, 3, replaced=("1.csv",)), TargetTable(TABLE), True,
         "2 new and 1 replaced file in shop.orders"),
        ("append_only", ZonePin(), TargetTable(TABLE), False, "no file is waiting in shop.orders"),
        ("append_only", ZonePin(archived=2), TargetTable(TABLE), False,
         "no file is waiting in shop.orders; --full-refresh reads the 2 archived"),
        ("append_only", ZonePin(quarantined=2), TargetTable(TABLE), False,
         "no file is waiting in shop.orders; 2 set aside earlier: lakebed zone show shop.orders"),
        ("append_only", ZonePin(unmatched=3), TargetTable(TABLE), False,
         "no file is waiting in shop.orders: 3 files do not match the pattern (a * stands for any characters)"),
        ("full_refresh", ZonePin(FILES), TargetTable(TABLE, metadata("append"), GIVEN), False, "no new file in shop.orders"),
        ("full_refresh", ZonePin(FILES), TargetTable(TABLE, metadata("append"), replace(GIVEN, given="")), True,
         "the inputs of the last run are not known"),  # the record of an older Lakebed
        ("full_refresh", ZonePin(gone=("2.csv",)), TargetTable(TABLE, metadata("append"), GIVEN), True, "2.csv is gone"),
        ("full_refresh", ZonePin(), TargetTable(TABLE, metadata("append"), GIVEN), False, "no file is waiting in shop.orders"),
    ],
)  # fmt: skip
def test_a_plan_says_why_a_pipeline_over_zones_runs_or_does_not(
    strategy: str, pin: ZonePin, target: TargetTable, runs: bool, reason: str
) -> None:
    spec = replace(
        setting(strategy).spec, zones=(ZoneRef("orders", ZONE, None, "", 1),), digest="r"
    )
    found = decide_run(spec, Pins("2", {}, {(ZONE, None): pin}, given="g"), target)
    assert (found.should_run, found.reason) == (runs, reason)


def test_rows_that_go_with_their_file_are_not_lost_without_a_word() -> None:
    spec = replace(setting("full_refresh").spec, zones=(ZoneRef("orders", ZONE, None, "", 1),))
    pin = ZonePin(FILES, gone=tuple(f"{number}.csv" for number in range(30)))
    told = run_warnings(spec, Pins("2", {}, {(ZONE, None): pin}))
    assert told[0] == "0.csv is gone, and so are its rows"
    assert (len(told), told[-1]) == (21, "and 10 more files")


@pytest.mark.parametrize(
    ("strategy", "rule", "warned"),
    [
        ("append_only", "append_and_warn", True),
        ("append_only", "append", False),
        ("incremental", "append_and_warn", False),
    ],
)
def test_a_replaced_file_is_warned_of_where_its_rows_are_added_and_nobody_has_decided(
    strategy: str, rule: ReplacedRule, warned: bool
) -> None:
    spec = replace(setting(strategy).spec, zones=(ZoneRef("orders", ZONE, None, "", 1),))
    pin = ZonePin(FILES, 1, replaced=("1.csv",), replaced_rule=rule)
    assert bool(run_warnings(spec, Pins("2", {}, {(ZONE, None): pin}))) is warned
