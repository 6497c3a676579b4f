"""Which landing files a table has, once the snapshots of the runs that took them have expired: the
ledger, rollbacks, a lost catalog and an older backup.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import pytest

from lakebed.care.fsck import LedgerReport, UnprovedFile
from lakebed.errors import LeaseLost, UsageError
from lakebed.names import new_run_id
from lakebed.ports import Snapshot
from lakebed.tables.ledger.copies import copies, write_copy
from lakebed.tables.ownership import IDENTITY_FILE, LakeFormat
from tests.support.lakes.fed_lake import Fed
from tests.support.lakes.kept_lake import Kept

STATE = (
    "iceberg_tables",
    "lakebed_ledger",
    "lakebed_publications",
    "lakebed_runs",
    "lakebed_events",
    "lakebed_descents",
)


def fed_by(kept: Kept, runs: int, *, archive: bool = False) -> tuple[Fed, list[Snapshot]]:
    """A table that took one file by each of some runs, and its snapshots."""
    fed = Fed(kept, archive=archive)
    return fed, [take(fed) for _ in range(runs)]


def take(fed: Fed) -> Snapshot:
    fed.land()
    head = fed.run()
    assert head
    return head


def expire(kept: Kept) -> None:
    later = datetime.now(UTC) + timedelta(days=8)
    kept.lake.care(now=later, only=["expire_snapshots"])


def raising(error: BaseException) -> Callable[..., NoReturn]:
    def call(*_: object, **__: object) -> NoReturn:
        raise error

    return call


def lose_catalog(kept: Kept) -> None:
    with kept.lake.stores.database.writing() as connection:
        for table in STATE:
            connection.exec_driver_sql(f"delete from {table}")


def test_files_of_expired_runs_are_not_read_twice_after_the_catalog_was_lost(kept: Kept) -> None:
    fed, _ = fed_by(kept, 2)
    expire(kept)
    take(fed)
    expire(kept)
    lose_catalog(kept)
    report = kept.lake.rebuild_catalog().ledger
    assert (report.files, report.unproved) == (3, ())
    assert (fed.run(), fed.rows()) == (None, [1, 2, 3])


def test_a_held_file_stays_out_after_a_rollback_when_its_run_has_expired(kept: Kept) -> None:
    fed, (first, _) = fed_by(kept, 2)
    kept.lake.tables.rollback(fed.table, first.id, files="exclude")
    third = take(fed)
    expire(kept)
    take(fed)
    kept.lake.tables.rollback(fed.table, third.id, files="requeue")
    assert fed.states() == {1: "taken", 2: "held", 3: "taken"}
    fed.run(full_refresh=True)
    assert fed.rows() == [1, 3, 4]


def test_a_file_that_waits_again_is_not_forgotten_by_a_rollback_when_its_run_has_expired(
    kept: Kept,
) -> None:
    fed, (first, _) = fed_by(kept, 2)
    kept.lake.tables.rollback(fed.table, first.id, files="exclude")
    third = take(fed)
    kept.lake.tables.rollback(fed.table, first.id, files="requeue")
    kept.bench.write(fed.table, [100])
    head = fed.head()
    assert head
    expire(kept)
    kept.bench.write(fed.table, [101])
    kept.lake.tables.rollback(fed.table, head.id)
    assert third
    assert fed.waits() == {3}
    fed.run()
    assert fed.rows() == [1, 3, 100]


def test_a_rollback_to_a_tag_knows_which_expired_runs_it_undoes(kept: Kept) -> None:
    """The run before the tag has expired, and so have those between the tag and the head."""
    fed, _ = fed_by(kept, 2)
    kept.tag(fed.table, "q1")
    tagged = fed.head()
    assert tagged
    take(fed)
    fourth = take(fed)
    expire(kept)
    kept.lake.tables.rollback(fed.table, "q1", files="requeue")
    assert (fed.rows(), fed.waits()) == ([1, 2], {3, 4})
    kept.lake.tables.rollback(fed.table, fourth.id, files="requeue")
    assert (fed.rows(), fed.waits()) == ([1, 2, 3, 4], set())


def test_a_rollback_leaves_the_files_of_a_tagged_run_taken_when_those_after_it_expired(
    kept: Kept,
) -> None:
    fed, _ = fed_by(kept, 1)
    kept.tag(fed.table, "q1")
    take(fed)
    third = take(fed)
    expire(kept)
    take(fed)
    kept.lake.tables.rollback(fed.table, third.id, files="requeue")
    assert (fed.rows(), fed.waits()) == ([1, 2, 3], {4})
    fed.run()
    assert fed.rows() == [1, 2, 3, 4]


@pytest.mark.parametrize(("archive", "is_expired"), [(True, True), (False, False)])
def test_held_and_waiting_files_are_that_after_the_catalog_was_lost(
    kept: Kept, archive: bool, is_expired: bool
) -> None:
    fed, (first, _) = fed_by(kept, 2, archive=archive)
    kept.lake.tables.rollback(fed.table, first.id, files="exclude")
    third = take(fed)
    take(fed)
    kept.lake.tables.rollback(fed.table, third.id, files="requeue")
    if is_expired:
        expire(kept)
    lose_catalog(kept)
    report = kept.lake.rebuild_catalog().ledger
    assert (report.files, report.unproved) == (4, ())
    assert (fed.waits(), fed.states()) == ({4}, {1: "taken", 2: "held", 3: "taken"})
    fed.run(full_refresh=True)
    assert fed.rows() == [1, 3, 4]


def test_what_expired_after_a_backup_is_known_when_it_is_restored_with_newest(
    kept: Kept, tmp_path: Path
) -> None:
    fed, (first,) = fed_by(kept, 1)
    made = kept.lake.backup(str(tmp_path / "b.zip"))
    take(fed)
    kept.lake.tables.rollback(fed.table, first.id, files="exclude")
    take(fed)
    kept.tag(fed.table, "q1")
    take(fed)
    take(fed)
    expire(kept)
    report = kept.lake.restore(made.path, force=True, newest=True).ledger
    assert (report.files, report.unproved) == (4, ())
    assert fed.states() == {1: "taken", 2: "held", 3: "taken", 4: "taken", 5: "taken"}
    kept.lake.tables.rollback(fed.table, "q1", files="requeue")
    assert (fed.rows(), fed.waits()) == ([1, 3], {4, 5})


def test_files_taken_after_a_backup_wait_if_it_is_restored_as_it_is(
    kept: Kept, tmp_path: Path
) -> None:
    """That the runs were published is true of tables at their newest, and these are not."""
    fed, _ = fed_by(kept, 1)
    kept.tag(fed.table, "q1")
    made = kept.lake.backup(str(tmp_path / "b.zip"))
    take(fed)
    take(fed)
    expire(kept)
    kept.lake.restore(made.path, force=True)
    report = kept.lake.rebuild_catalog().ledger
    assert {Path(file.path).name for file in report.unproved} == {"2.csv", "3.csv"}
    assert (fed.rows(), fed.waits()) == ([1], {2, 3})
    fed.run()
    expire(kept)
    lose_catalog(kept)
    kept.lake.rebuild_catalog()
    assert (fed.run(), fed.rows()) == (None, [1, 2, 3])


def test_a_copy_that_nothing_proves_is_reported_and_its_file_waits(kept: Kept) -> None:
    fed, _ = fed_by(kept, 1)
    path = fed.land()
    run_id = new_run_id()
    (row,) = kept.lake.stores.records.ledger(fed.table)
    write_copy(kept.lake.stores.files, run_id, [replace(row, path=path, run_id=run_id)])
    lose_catalog(kept)
    report = kept.lake.rebuild_catalog().ledger
    assert report == LedgerReport(1, (UnprovedFile(path, str(fed.table), run_id),))
    assert fed.waits() == {2}
    kept.lake.stores.files.delete(path)
    assert kept.lake.rebuild_catalog().ledger == LedgerReport(0, ())


@pytest.mark.parametrize("dies", [True, False], ids=["its process dies", "it is refused"])
def test_a_decision_whose_commit_never_happened_counts_for_nothing(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    fed, (first, second) = fed_by(kept, 2)
    error = KeyboardInterrupt() if dies else UsageError("no.")
    with monkeypatch.context() as patch:
        patch.setattr(kept.lake.stores.catalog, "amend", raising(error))
        with pytest.raises(type(error)):
            kept.lake.tables.rollback(fed.table, first.id, files="exclude")
    decisions = list(kept.lake.stores.files.list(".data/ledger/decisions"))
    assert len(decisions) == (1 if dies else 0)
    kept.tag(fed.table, "q1")
    take(fed)
    expire(kept)
    lose_catalog(kept)
    kept.lake.rebuild_catalog()
    assert fed.states() == {1: "taken", 2: "taken", 3: "taken"}
    kept.lake.tables.rollback(fed.table, second.id, files="exclude")
    assert fed.states() == {1: "taken", 2: "taken", 3: "held"}


@pytest.mark.parametrize("archive", [True, False])
def test_a_copy_lives_as_long_as_its_file_does(kept: Kept, archive: bool) -> None:
    fed, _ = fed_by(kept, 2, archive=archive)
    files = kept.lake.stores.files
    expire(kept)
    later = datetime.now(UTC) + timedelta(days=400)
    kept.lake.care(now=later)
    assert len(copies(files)) == 2
    (gone,) = (file.path for file in files.list("shop/landing") if file.path.endswith("/1.csv"))
    files.delete(gone)
    kept.lake.care(now=later)
    assert len(copies(files)) == 1
    lose_catalog(kept)
    kept.lake.rebuild_catalog()
    assert (fed.run(), fed.states()) == (None, {2: "taken"})


def test_what_another_tool_expired_is_known_after_the_catalog_was_lost(kept: Kept) -> None:
    """Earlier versions also removed copies by their age."""
    fed, (first, _, _) = fed_by(kept, 3)
    kept.forget_snapshot(fed.table, first.id)
    kept.lake.stores.files.clear(".data/ledger")
    expire(kept)
    lose_catalog(kept)
    report = kept.lake.rebuild_catalog().ledger
    assert (report.files, report.unproved) == (2, ())
    assert (fed.rows(), fed.waits()) == ([1, 2, 3], {3})


def test_a_rollback_that_fails_after_it_moved_files_back_says_so(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    fed, (first, second) = fed_by(kept, 2, archive=True)
    refused = LeaseLost("shop.silver.orders", "another")
    with monkeypatch.context() as patch:
        patch.setattr(kept.lake.stores.catalog, "amend", raising(refused))
        with pytest.raises(LeaseLost) as failed:
            kept.lake.tables.rollback(fed.table, first.id, files="requeue")
    assert "1 landing files were moved from _processed/ back" in failed.value.safe
    assert (fed.rows(), fed.run(), fed.waits()) == ([1, 2], None, set())
    kept.lake.tables.rollback(fed.table, first.id, files="requeue")
    assert fed.waits() == {2}
    kept.lake.tables.rollback(fed.table, second.id, files="requeue")
    with pytest.raises(UsageError) as undecided:
        kept.lake.tables.rollback(fed.table, first.id)
    assert undecided.value.safe == "Nothing was changed."


def test_a_file_that_an_earlier_version_let_wait_again_still_waits_after_a_restore(
    kept: Kept, tmp_path: Path
) -> None:
    """It wrote no decision, and a tag still contains the undone run."""
    fed, (first, _) = fed_by(kept, 2)
    kept.tag(fed.table, "q1")
    kept.lake.tables.rollback(fed.table, first.id, files="requeue")
    kept.lake.stores.files.clear(".data/ledger/decisions")
    made = kept.lake.backup(str(tmp_path / "b.zip"))
    kept.bench.write(fed.table, [100])
    kept.lake.restore(made.path, force=True, newest=True)
    assert (fed.rows(), fed.waits()) == ([1, 100], {2})


def test_the_first_decision_raises_the_format_of_the_lake_so_that_older_versions_refuse_it(
    kept: Kept,
) -> None:
    fed, (first, _) = fed_by(kept, 2)
    files = kept.lake.stores.files
    assert json.loads(files.read(IDENTITY_FILE))["format"] == LakeFormat.IDENTITY
    kept.lake.tables.rollback(fed.table, first.id, files="exclude")
    assert json.loads(files.read(IDENTITY_FILE))["format"] == LakeFormat.LEDGER_DECISIONS
