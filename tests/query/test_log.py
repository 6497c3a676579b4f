"""The query log: whole lines whatever happens, a file a day, readable by anything."""

import json
import multiprocessing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from lakebed.ports import And, Comparison, In, IsNull, Not, Or, StartsWith
from lakebed.query.results.log import (
    LONGEST_LINE,
    TYPES,
    QueryLog,
    QueryLogEntry,
    line_of,
    parse_line,
    sql_hash,
)
from lakebed.query.results.log_conditions import ReadCondition, read_conditions
from tests.support.scale import SCALE

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
WORKERS, LINES = 6, 150 * SCALE


def entry(
    number: int = 0, *, sql: str = "SELECT 1", ts: datetime = NOON, **more: object
) -> QueryLogEntry:
    return QueryLogEntry(ts=ts, id=f"q{number}", sql=sql, sql_hash=sql_hash(sql), **more)  # type: ignore[arg-type]


def test_an_entry_is_read_as_it_was_written(tmp_path: Path) -> None:
    asked = entry(
        sql="SELECT 'ä\n\"' FROM t",
        tables=("shop.silver.orders",),
        snapshot_ids=(2**62,),
        conditions=((ReadCondition("country", "="), ReadCondition("day", ">=")),),
        layouts=("by_country",),
        params_redacted=("?",),
        rows=3,
        bytes=10,
        files_scanned=1,
        files_pruned=9,
        ms=1.5,
        principal="eve",
        route="cli",
        status="refused",
        error="no",
        untrusted=True,
    )
    log = QueryLog(tmp_path)
    assert log.write(asked)
    assert list(log.entries()) == [asked]


def test_a_file_holds_the_day_of_utc(tmp_path: Path) -> None:
    log = QueryLog(tmp_path)
    log.write(entry(1, ts=datetime(2026, 11, 16, 0, 30, tzinfo=timezone(timedelta(hours=2)))))
    log.write(entry(2, ts=datetime(2026, 11, 16, 0, 30, tzinfo=UTC)))
    assert [file.name for file in log.files()] == ["2026-11-15.jsonl", "2026-11-16.jsonl"]
    assert [one.id for one in log.entries(newest_first=True)] == ["q2", "q1"]


@pytest.mark.parametrize("character", ["a", "ä", "\U0001f600", '"', "\0", "\ud800"])
def test_long_sql_is_cut_so_that_a_line_stays_within_its_bound(character: str) -> None:
    sql = character * 100_000
    line = line_of(entry(sql=sql))
    assert LONGEST_LINE - 100 < len(line) <= LONGEST_LINE
    assert line.count(b"\n") == 1
    read = json.loads(line)
    assert read["sql_hash"] == sql_hash(sql)
    assert read["sql"].endswith("…")


def test_many_tables_and_long_errors_are_cut_too() -> None:
    line = line_of(
        entry(
            tables=tuple(f"{'n' * 200}.{i}" for i in range(500)),
            snapshot_ids=(1,) * 500,
            conditions=((ReadCondition("c" * 200, "="),),) * 500,
            layouts=("l" * 200,) * 500,
            error="e" * 99_999,
        )
    )
    assert len(line) <= LONGEST_LINE
    assert json.loads(line)["tables"]


def _write_many(folder: Path, worker: int) -> None:
    log = QueryLog(folder)
    for number in range(LINES):
        assert log.write(
            entry(worker * LINES + number, sql=f"{worker}" * (50 if number % 3 else 100_000))
        )


def test_lines_of_many_processes_never_mix(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_write_many, args=(tmp_path, worker)) for worker in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    lines = QueryLog(tmp_path).files()[0].read_text().splitlines()
    assert len(lines) == WORKERS * LINES
    read = [json.loads(line) for line in lines]
    assert {one["id"] for one in read} == {f"q{number}" for number in range(WORKERS * LINES)}
    assert all(len(set(one["sql"]) - {"…"}) == 1 for one in read)  # each line is of one worker


def test_a_line_that_a_full_disk_cut_off_spoils_no_other(tmp_path: Path) -> None:
    log = QueryLog(tmp_path)
    log.write(entry(1))
    with log.files()[0].open("ab") as file:
        file.write(line_of(entry(2))[:40] + b"\n")
    log.write(entry(3))
    assert [one.id for one in log.entries()] == ["q1", "q3"]
    assert parse_line("no json") is parse_line("[]") is parse_line('{"ts": 5}') is None


def test_a_log_that_cannot_be_written_ends_no_query(tmp_path: Path) -> None:
    (tmp_path / "query_log").write_text("a file stands where the folder should be")
    assert not QueryLog(tmp_path).write(entry())


def test_the_log_is_a_query_of_duckdb_with_or_without_lines(tmp_path: Path) -> None:
    import duckdb

    log = QueryLog(tmp_path / "it's")
    assert duckdb.sql(log.select()).fetchall() == []
    empty = duckdb.sql(log.select())
    asked = (ReadCondition("it's", "is not null"), ReadCondition("n", "in"))
    log.write(
        entry(
            1,
            tables=("a.b.c",),
            snapshot_ids=(2**62, None),
            conditions=(asked, ()),
            layouts=("by_n", ""),
            ms=2.5,
            sql="x" * 100_000,
        )
    )
    with log.files()[0].open("ab") as file:
        file.write(b'{"ts": "2026\n')
    log.write(entry(2))
    full = duckdb.sql(log.select())
    assert empty.columns == full.columns == list(TYPES)
    assert [str(kind) for kind in empty.types] == [str(kind) for kind in full.types]
    rows = duckdb.sql(
        f"SELECT id, tables, snapshot_ids, ms, epoch(ts) FROM ({log.select()}) ORDER BY id"
    ).fetchall()
    assert rows == [
        ("q1", ["a.b.c"], [2**62, None], 2.5, NOON.timestamp()),
        ("q2", [], [], 0.0, NOON.timestamp()),
    ]
    found = duckdb.sql(f"SELECT conditions, layouts FROM ({log.select()}) WHERE id = 'q1'")
    named = [{"column": "it's", "op": "is not null"}, {"column": "n", "op": "in"}]
    assert found.fetchall() == [([named, []], ["by_n", ""])]


def test_lines_from_before_conditions_were_logged_are_read(tmp_path: Path) -> None:
    import duckdb

    log, asked = QueryLog(tmp_path), entry(1, tables=("a.b.c",), snapshot_ids=(5,))
    values = json.loads(line_of(asked))
    former = {key: values[key] for key in values if key not in ("conditions", "layouts")}
    log.write(entry(2, conditions=((ReadCondition("n", "="),),)))
    with log.files()[0].open("a") as file:
        file.write(json.dumps(former) + "\n")
    assert [one.id for one in log.entries()] == ["q2", "q1"]
    assert [*log.entries()][1] == asked
    rows = duckdb.sql(
        f"SELECT id, conditions, layouts FROM ({log.select()}) ORDER BY id"
    ).fetchall()
    assert rows == [("q1", None, None), ("q2", [[{"column": "n", "op": "="}]], [])]


def test_what_is_logged_of_a_predicate_has_no_values() -> None:
    secret = "s3cret"
    predicate = And(
        (
            Comparison("a", "=", secret),
            Comparison("a", "=", "other"),
            Comparison("b", ">=", secret),
            In("c", (secret,)),
            In("c", (secret,), negated=True),
            IsNull("d"),
            IsNull("e", negated=True),
            StartsWith("f", secret),
            Or((Comparison("g", "=", secret), In("g", (secret,)))),
            # neither of these leaves out all rows with another value of one column
            Or((Comparison("h", "=", secret), Comparison("i", "=", secret))),
            Or((Comparison("j", "<", secret), Comparison("j", ">", secret))),
            StartsWith("k", secret, negated=True),
            Not(Comparison("l", "=", secret)),
        )
    )
    found = read_conditions(predicate)
    assert [f"{one.column} {one.op}" for one in found] == [
        "a =",
        "b >=",
        "c in",
        "c !=",
        "d is null",
        "e is not null",
        "f starts with",
        "g in",
    ]
    assert secret.encode() not in line_of(entry(conditions=(found,)))
    assert read_conditions(None) == ()


def test_care_removes_days_that_are_old(tmp_path: Path) -> None:
    from lakebed.care.removal.purging import purge_logs
    from lakebed.care.survey import log_files
    from lakebed.engines.files import FolderFiles
    from lakebed.settings import CareSettings

    log = QueryLog(tmp_path)
    log.write(entry(ts=datetime.now(UTC)))
    found = log_files(FolderFiles(tmp_path))
    later = datetime.now(UTC) + timedelta(days=31)
    assert list(purge_logs("logs", found, {}, CareSettings(), now=later - timedelta(days=2))) == []
    (step,) = purge_logs("logs", found, {}, CareSettings(), now=later)
    assert [file.path for file in step.files] == [f"query_log/{log.files()[0].name}"]
