"""By which runs a table took its files: what a full refresh repeats, decided from the
ledger alone.
"""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lakebed.errors import BadFiles
from lakebed.names import TableName, ZoneName, run_time
from lakebed.pipelines.planning.batches import batches_of, require_separate_extracts
from lakebed.pipelines.planning.pins import Batch, ZoneKey, ZonePin
from lakebed.ports import ConsumedFile, FileInfo, RunRecord
from tests.pipelines.test_invocation import setting

TABLE, ZONE = TableName("shop", "bronze", "orders"), ZoneName("shop", "orders")
KEY: ZoneKey = (ZONE, None)
START = datetime(2026, 1, 1, tzinfo=UTC)
RUNS = [f"{int(START.timestamp()) * 1000 + number:012x}{'0' * 20}" for number in range(4)]


def file(name: str, *, archived_by: str = "", age: int = 0) -> FileInfo:
    folder = f"{ZONE.folder}/_processed/{archived_by}" if archived_by else ZONE.folder
    return FileInfo(f"{folder}/{name}", 1, name, START - timedelta(seconds=age))


def taken(info: FileInfo, run: int) -> ConsumedFile:
    landed = f"{ZONE.folder}/{info.path.rpartition('/')[2]}"
    return ConsumedFile(
        TABLE, ZONE, landed, info.etag, 1, RUNS[run], taken_at=START.timestamp() + run
    )


def seen(batches: tuple[Batch, ...]) -> list[tuple[str, list[str]]]:
    return [(batch.run_id, [one.etag for one in batch.files[KEY]]) for batch in batches]


def forgotten(run_id: str) -> RunRecord | None:
    return None


def test_a_runs_files_stay_together_in_the_order_of_the_runs_and_waiting_ones_come_last() -> None:
    a, b, c, d, e = (file(name) for name in "abcde")
    moved = file("x", archived_by=RUNS[3])
    known = {
        a.path: taken(a, 2),
        b.path: taken(b, 1),
        d.path: taken(d, 1),
        moved.path: taken(moved, 0),
    }
    batches = batches_of({KEY: ZonePin((a, b, c, d, moved, e), known=known)}, record=forgotten)
    assert seen(batches) == [
        (RUNS[0], ["x"]),
        (RUNS[1], ["b", "d"]),
        (RUNS[2], ["a"]),
        ("", ["c", "e"]),
    ]


def test_files_that_were_archived_before_the_table_was_there_come_in_as_others_took_them() -> None:
    first, second = file("a", archived_by=RUNS[0]), file("b", archived_by=RUNS[1])
    wanted = [(RUNS[0], ["a"]), (RUNS[1], ["b"])]
    assert seen(batches_of({KEY: ZonePin((second, first))}, record=forgotten)) == wanted
    known = {
        first.path: taken(first, 3),
        second.path: taken(second, 3),
    }  # once it has taken them all in one run
    assert (
        seen(batches_of({KEY: ZonePin((second, first), known=known)}, record=forgotten)) == wanted
    )


def test_a_batch_has_the_times_of_its_run_and_those_of_the_id_once_the_record_is_forgotten() -> (
    None
):
    landing = {KEY: ZonePin((file("a"),), known={file("a").path: taken(file("a"), 0)})}
    record = RunRecord(
        RUNS[0],
        "",
        TABLE,
        "success",
        START + timedelta(seconds=2),
        asked_at=START + timedelta(seconds=1),
    )
    (batch,) = batches_of(landing, record={RUNS[0]: record}.get)
    assert (batch.at, batch.asked_at) == (record.started_at, record.asked_at)
    (batch,) = batches_of(landing, record=forgotten)
    assert (batch.at, batch.asked_at) == (run_time(RUNS[0]),) * 2


def test_every_file_is_a_batch_of_its_own_where_that_is_asked_for() -> None:
    a, b, c = file("a"), file("b", age=9), file("c", age=5)
    landing = {KEY: ZonePin((a, b, c), known={a.path: taken(a, 0), b.path: taken(b, 0)})}
    batches = batches_of(landing, record=forgotten, each_file=True)
    assert seen(batches) == [(RUNS[0], ["b"]), (RUNS[0], ["a"]), ("", ["c"])]
    assert batches[1].later > batches[0].later


@pytest.mark.parametrize(
    ("strategy", "config", "refused"),
    [
        ("soft_delete", {}, True),
        ("soft_delete", {"one_file_a_run": False}, False),
        ("scd2", {"scd_close_absent": True}, True),
        ("scd2", {}, False),
        ("snapshot", {}, False),
    ],
)
def test_two_extracts_are_not_taken_for_one_where_absence_counts(
    strategy: str, config: dict[str, Any], refused: bool
) -> None:
    spec = setting(strategy, **config).spec
    landing = {KEY: ZonePin((file("a"), file("b")))}
    with pytest.raises(BadFiles, match="2 files are waiting") if refused else nullcontext():
        require_separate_extracts(spec, landing, ())
    require_separate_extracts(spec, {KEY: ZonePin((file("a"),))}, ())
    require_separate_extracts(
        spec, landing, [Batch({KEY: (file("a"), file("b"))}, RUNS[0], START)]
    )  # a run took both, as one
