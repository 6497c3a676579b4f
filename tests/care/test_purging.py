"""Runs, branches, staging, logs, archived files, events and releases of a real lake, each after its
time.
"""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.ports import Event, InputPin, RunRecord, RunState, Verdict
from tests.support.lakes.care_lakes import CareLake, entry, states


def record(
    cared: CareLake, run_id: str, *, state: RunState = "failed", days: float = 0, **parts: Any
) -> RunRecord:
    """A run of `silver.orders` that began some days ago."""
    began = datetime.now(UTC) - timedelta(days=days)
    made = RunRecord(run_id, "i", cared.name("silver.orders"), state, began, **parts)
    cared.lake.stores.records.write(made)
    return made


def test_a_run_whose_lease_nobody_has_is_closed_with_its_branch_and_pins(cared: CareLake) -> None:
    name, run_id = cared.make("silver.orders", [1]), new_run_id()
    record(cared, run_id, state="running")
    cared.append("silver.orders", [2], branch=f"run_{run_id}")
    records = cared.lake.stores.records
    records.pin(run_id, [InputPin(name, 1)])
    with cared.lake.tables.lease(name, holder="the run"):
        assert cared.care().entries == ()
    assert states(cared.care()) == {("close_dead_runs", "shop.silver.orders"): "done"}
    found = records.run(run_id)
    assert found
    assert found.state == "failed"
    assert "died" in found.error["what"]
    assert records.pinned() == {}
    assert set(cared.meta("silver.orders").refs) == {"main"}


def test_the_branch_of_a_failed_run_goes_after_six_hours_and_its_rows_a_week_later(
    cared: CareLake,
) -> None:
    cared.make("silver.orders", [1])
    run_id = new_run_id()
    record(cared, run_id)
    head = cared.append("silver.orders", [2], branch=f"run_{run_id}")
    assert cared.care(days=0.2).entries == ()
    assert states(cared.care(days=0.3)) == {("remove_branches", "shop.silver.orders"): "done"}
    (told,) = cared.lake.stores.events.since(kinds=["branch_removed"])
    assert (told.event.snapshot, told.event.detail) == (head, {"ref": f"run_{run_id}"})
    assert head in cared.meta("silver.orders").snapshots
    cared.care(days=8)
    assert head not in cared.meta("silver.orders").snapshots
    assert cared.rows("silver.orders") == [1]


def test_hidden_tables_of_ended_runs_are_dropped_with_their_files(cared: CareLake) -> None:
    run_id = new_run_id()
    hidden = cared.make(f"silver.stage_{run_id}", [1])
    record(cared, run_id)
    assert cared.care().entries == ()
    events, head = cared.lake.stores.events, cared.meta(f"silver.stage_{run_id}").head()
    assert head
    events.protect("mirror", hidden, [head.id])
    assert "mirror protects" in cared.care(days=1).entries[0].message
    assert cared.rows(f"silver.stage_{run_id}") == [1]
    events.unprotect("mirror")
    assert states(cared.care(days=1)) == {("drop_leftovers", "shop.silver.orders"): "done"}
    assert cared.files() == set()


def test_records_beyond_their_number_and_verdicts_beyond_theirs_go(cared: CareLake) -> None:
    verdict = Verdict("gate", "error", passed=False, bad_rows=1, sample=({"id": 1},))
    for number in range(12):
        record(cared, f"{number:032}", days=12 - number, verdicts=(verdict,))
    folder = cared.folder / "shop/pipelines/silver/orders"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(
        "care: {runs_max_per_pipeline: 8, verdicts_max_per_gate: 3}\n"
    )
    done = entry(cared.care(), "purge_runs")
    assert done.counts == {"runs": 4, "verdicts": 5}
    left = cared.lake.stores.records.runs(table=cared.name("silver.orders"))
    assert [bool(one.verdicts) for one in left] == [True] * 3 + [False] * 5
    assert cared.care().entries == ()


def test_logs_and_staging_go_and_what_is_beside_them_stays(cared: CareLake) -> None:
    run_id = new_run_id()
    record(cared, run_id)
    ours = (
        f"logs/runs/{run_id}.log",
        "logs/spark/20260101-000000-7.log",
        f"staging/{run_id}/a/b.csv",
    )
    others = (
        "logs/syslog",
        "logs/runs/notes.txt",
        "staging/mine/a.csv",
        "staging/loose",
        "artifacts/x.json",
    )
    for path in (*ours, *others):
        cared.lake.stores.files.write(f".data/{path}", b"1234")
    assert cared.care(days=0.5).entries == ()
    result = cared.care(days=31)
    assert {entry.action: (entry.state, entry.bytes) for entry in result.entries} == {
        "purge_staging": ("done", 4),
        "purge_logs": ("done", 8),
    }
    left = {path for path in cared.files(".data") if "lake.db" not in path}
    own = {".data/README", ".data/lake.json"}
    assert left == {*own, *(f".data/{path}" for path in others)}
    assert (cared.folder / ".data/lake.db").exists()


def test_archived_files_go_where_the_zone_says_so_and_not_while_its_reader_runs(
    cared: CareLake,
) -> None:
    files, run_id = cared.lake.stores.files, new_run_id()
    for zone in ("orders", "kept"):
        files.write(f"shop/landing/{zone}/_processed/{run_id}/a.csv", b"12345")
        files.write(f"shop/landing/{zone}/waiting.csv", b"1")
    files.write("shop/landing/orders/zone.yaml", b"auto_purge: true\n")
    take(cared, ZoneName("shop", "orders"), run_id)
    with cared.lake.tables.lease("shop.silver.orders", holder="a full refresh"):
        assert entry(cared.care(days=31), "purge_processed").state == "skipped"
    done = entry(cared.care(days=31), "purge_processed")
    assert (done.state, done.counts, done.bytes, done.subject) == (
        "done",
        {"files": 1},
        5,
        "shop.orders",
    )
    left = {path.removeprefix("shop/landing/") for path in cared.files("shop/landing")}
    assert left == {
        "orders/zone.yaml",
        "orders/waiting.csv",
        "kept/waiting.csv",
        f"kept/_processed/{run_id}/a.csv",
    }


def take(cared: CareLake, zone: ZoneName, run_id: str) -> None:
    """A published run of `silver.orders` has taken a file of the zone."""
    from lakebed.ports import ConsumedFile, Publication, PublicationRecords

    table = cared.name("silver.orders")
    taken = ConsumedFile(table, zone, f"{zone.folder}/a.csv", "e", 5, run_id)
    cared.lake.stores.catalog.commit(
        Publication(run_id, ()), expected={}, records=PublicationRecords(consumed=(taken,))
    )


def test_events_and_care_s_own_entries_go_after_a_year_unless_a_follower_needs_them(
    cared: CareLake,
) -> None:
    stores = cared.lake.stores
    stores.events.follow("mirror")
    stores.events.append(Event("altered", TableName("shop", "silver", "orders")))
    assert cared.care(days=364).entries == ()
    assert entry(cared.care(days=366), "purge_events").counts["events"] == 0
    stores.events.acknowledge("mirror", 99)
    assert entry(cared.care(days=366), "purge_events").counts["events"] == 1


def test_publications_go_after_a_year_and_their_files_stay_taken(cared: CareLake) -> None:
    zone, run_id = ZoneName("shop", "orders"), new_run_id()
    take(cared, zone, run_id)
    taken = cared.lake.stores.records.consumed(zone)
    assert len(taken) == 1
    assert cared.care(days=364).entries == ()
    assert entry(cared.care(days=366), "purge_events").counts["publications"] == 1
    assert cared.lake.stores.catalog.published(run_id) is None
    assert cared.lake.stores.records.consumed(zone) == taken
    assert cared.care(days=366).entries == ()


def test_drafts_that_had_their_time_are_reaped_and_releases_are_not(cared: CareLake) -> None:

    folder = cared.folder / "shop/pipelines/silver/orders"
    folder.mkdir(parents=True)
    releases = cared.lake.pipelines
    for text in ("SELECT 1 AS id", "SELECT 2 AS id"):
        (folder / "pipeline.sql").write_text(text)
        releases.save("silver.orders")
    releases.release("silver.orders")
    assert cared.care().entries == ()
    done = entry(cared.care(days=8), "reap_releases")
    assert (done.state, done.counts["drafts"] >= 1, done.counts["objects"]) == ("done", True, 1)
    (folder / "pipeline.sql").unlink()
    for days in range(10, 20):
        cared.care(days=days)
    releases.restore("silver.orders", "1")
    assert (folder / "pipeline.sql").read_text() == "SELECT 2 AS id"


def test_the_command_says_what_is_due_and_what_was_done(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    run_id = f"{0:032}"
    record(cared, run_id, days=200)
    said = lakebed(cared, "care", "--dry-run")
    assert "reported purge_runs shop.silver.orders: 1 run;" in said
    assert "nothing was changed" in said
    told = json.loads(lakebed(cared, "care", "--json"))
    assert [(one["action"], one["state"], one["counts"]) for one in told["entries"]] == [
        ("purge_runs", "done", {"runs": 1})
    ]
    assert "nothing is due" in lakebed(cared, "care")
    assert "snapshot_max_age_days" in lakebed(cared, "care", "--settings", "orders")


def lakebed(cared: CareLake, *arguments: str) -> str:
    program = Path(sys.executable).parent / "lakebed"
    done = subprocess.run(
        [program, *arguments, "--lake", str(cared.lake.root)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
