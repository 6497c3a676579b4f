"""What reaping takes, decided on values; and that what is released or saved in the same moment is
not lost.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lakebed.names import TableName
from lakebed.pipelines.releases import (
    ReleaseInventory,
    plan_reaping,
    reap_releases,
    versions_to_drop,
)
from lakebed.pipelines.releases.content import (
    ensure_stored,
    fetch_content,
    object_path,
    store_content,
)
from lakebed.ports import Draft, FileInfo, Release
from lakebed.settings import ReleaseSettings
from lakebed.testing import MemoryFiles, MemoryReleases

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
ORDERS, OLD = TableName("shop", "silver", "orders"), TableName("shop", "silver", "old")
SETTINGS = ReleaseSettings()


def days(number: float) -> datetime:
    return NOW - timedelta(days=number)


def release(table: TableName, version: int, content: str) -> Release:
    return Release(table, version, content, days(400), "me", "", {"pipeline.sql": content})


def draft(table: TableName, content: str, age: float) -> Draft:
    return Draft(table, content, days(age), {"pipeline.sql": content})


def content(name: str, age: float) -> FileInfo:
    return FileInfo(f".data/releases/objects/{name[:2]}/{name}", 10, "e", days(age))


@pytest.mark.parametrize(
    ("count", "limit", "dropped"),
    [(3, 50, ()), (3, 3, ()), (4, 3, (1,)), (6, 3, (3, 2, 1)), (3, 1, (2, 1)), (2, 0, (1,))],
)
def test_the_oldest_versions_beyond_the_limit_go_and_never_the_newest(
    count: int, limit: int, dropped: tuple[int, ...]
) -> None:
    assert versions_to_drop(range(1, count + 1), limit) == dropped


def test_drafts_go_after_their_days() -> None:
    drafts = [draft(ORDERS, "aa", 6.9), draft(ORDERS, "bb", 7.1)]
    kept = ReleaseInventory([], drafts, {}, [])
    assert plan_reaping(kept, SETTINGS, now=NOW).drafts == (drafts[1],)
    assert plan_reaping(kept, ReleaseSettings(drafts_max_age_days=8), now=NOW).drafts == ()


def test_content_goes_only_when_nothing_speaks_of_it_and_it_is_not_young() -> None:
    kept = ReleaseInventory(
        [release(ORDERS, 1, "aa"), release(ORDERS, 2, "bb")],
        [draft(ORDERS, "cc", 1), draft(ORDERS, "dd", 30), draft(ORDERS, "bb", 30)],
        {},
        [content(name, 400) for name in ("aa", "bb", "cc", "dd", "ee")] + [content("ff", 0.9)],
    )
    plan = plan_reaping(kept, SETTINGS, now=NOW)
    assert [found.path[-2:] for found in plan.objects] == ["dd", "ee"]
    assert (plan.releases, plan.pipelines) == ((), {})


def test_releases_of_a_pipeline_that_nobody_deleted_stay_for_ever() -> None:
    plan = plan_reaping(
        ReleaseInventory([release(ORDERS, 1, "aa")], [], {}, [content("aa", 400)]),
        SETTINGS,
        now=days(-10_000),
    )
    assert (plan.releases, plan.objects) == ((), ())


def test_a_deleted_pipeline_goes_after_its_days_and_its_last_draft_with_it() -> None:
    drafts = [draft(OLD, "aa", 29), draft(OLD, "bb", 40)]
    kept = ReleaseInventory(
        [release(OLD, 1, "cc")],
        drafts,
        {OLD: days(29)},
        [content(name, 50) for name in ("aa", "bb", "cc")],
    )
    early = plan_reaping(kept, SETTINGS, now=NOW)
    assert (early.pipelines, early.drafts) == ({}, (drafts[1],))  # what it is restored from stays
    assert [found.path[-2:] for found in early.objects] == ["bb"]
    late = plan_reaping(replace(kept, deleted={OLD: days(31)}), SETTINGS, now=NOW)
    assert (list(late.pipelines), len(late.releases)) == ([OLD], 1)
    assert len(late.objects) == 3


def test_a_deleted_pipeline_whose_folder_is_back_is_not_deleted() -> None:
    kept = ReleaseInventory([release(OLD, 1, "cc")], [], {OLD: days(100)}, [], present=[OLD])
    plan = plan_reaping(kept, SETTINGS, now=NOW)
    assert (plan.returned, plan.pipelines, plan.releases) == ((OLD,), {}, ())


class CrossedFiles(MemoryFiles):
    """Files with somebody else at work: `on_list` and `on_delete` happen right after the next
    listing or removal.
    """

    def __init__(self) -> None:
        super().__init__()
        self.on_list: Callable[[], object] = lambda: None
        self.on_delete: Callable[[], object] = lambda: None

    def list(self, folder: str = "") -> Iterator[FileInfo]:
        found = super().list(folder)
        happening, self.on_list = self.on_list, lambda: None
        happening()
        return found

    def delete(self, path: str, *, etag: str | None = None) -> None:
        super().delete(path)
        happening, self.on_delete = self.on_delete, lambda: None
        happening()


LATER = datetime.now(UTC) + timedelta(days=2)


def test_a_dry_run_counts_and_removes_nothing() -> None:
    files, releases = MemoryFiles(), MemoryReleases()
    kept = store_content(files, {"a": b"12345"})
    assert reap_releases(files, releases, SETTINGS, now=LATER, dry_run=True).bytes == 5
    assert fetch_content(files, kept)
    done = reap_releases(files, releases, SETTINGS, now=LATER)
    assert (done.objects, done.bytes) == (1, 5)
    assert reap_releases(files, releases, SETTINGS, now=LATER).objects == 0


def test_files_that_are_no_content_are_left_alone() -> None:
    files = MemoryFiles()
    for name in ("README", "ab/README", "cd/" + "ab" * 32, ".data/x"):
        files.write(f".data/releases/objects/{name}", b"mine")
    assert reap_releases(files, MemoryReleases(), SETTINGS, now=LATER).objects == 0


@pytest.mark.parametrize("crosses", ["before the row", "after the row"])
def test_content_that_is_released_while_it_is_reaped_is_there_in_the_end(crosses: str) -> None:
    files, releases, mine = CrossedFiles(), MemoryReleases(), {"pipeline.sql": b"SELECT 1"}
    kept = store_content(files, mine)
    made = Release(ORDERS, 1, "d", NOW, "me", "", kept)
    if (
        crosses == "before the row"
    ):  # content is put, reaped, then the row is written and the content looked after
        reap_releases(files, releases, SETTINGS, now=LATER)
        releases.add(made)
        ensure_stored(files, mine)
    else:  # the row is written, and the content looked after, between the reaper's judgement and its removal
        files.on_delete = lambda: releases.add(made)
        assert reap_releases(files, releases, SETTINGS, now=LATER).objects == 0
    assert fetch_content(files, kept) == mine


def test_content_that_became_young_since_the_plan_stays() -> None:
    files, releases = CrossedFiles(), MemoryReleases()
    kept = store_content(files, {"a": b"1"})
    now = files.info(object_path(kept["a"])).modified + timedelta(hours=24, microseconds=1)
    assert reap_releases(files, releases, SETTINGS, now=now, dry_run=True).objects == 1
    files.on_list = lambda: store_content(files, {"a": b"1"})
    assert reap_releases(files, releases, SETTINGS, now=now).objects == 0
    assert fetch_content(files, kept)
