"""Releases and drafts of a lake, without running them: versions, diffs, rollback, restoring,
deleting, reaping.
"""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from lakebed.errors import DamagedRelease, UnknownName, UsageError
from lakebed.names import ZoneName
from lakebed.pipelines.pipelines import Pipelines, this_user
from lakebed.pipelines.releases import (
    OBJECTS,
    ReapResult,
    fetch_content,
    object_path,
    reap_releases,
)
from lakebed.pipelines.zone_readers import drafts_and_releases, readers_among
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import SCALE

NAME = "silver.orders"


@pytest.fixture
def drafts(tmp_path: Path) -> Iterator[TestLake]:
    """A lake with one draft; nothing runs in it, so it needs no Spark."""
    made = TestLake(tmp_path / "lake")
    made.pipeline(
        NAME, "SELECT 1 AS id", "tags: [a]\n", gates={"g": "SELECT * FROM {{ this }} WHERE id < 0"}
    )
    yield made
    made.lake.close()


@pytest.fixture
def pipelines(drafts: TestLake) -> Pipelines:
    return drafts.lake.pipelines


def folder(drafts: TestLake) -> Path:
    return drafts.folder / "shop/pipelines/silver/orders"


def draft(drafts: TestLake) -> dict[str, bytes]:
    """What lies in the folder."""
    top = folder(drafts)
    return {
        path.relative_to(top).as_posix(): path.read_bytes()
        for path in top.rglob("*")
        if path.is_file()
    }


def write(drafts: TestLake, source: str) -> None:
    (folder(drafts) / "pipeline.sql").write_text(source)


def objects(drafts: TestLake) -> set[Path]:
    return {path for path in (drafts.folder / OBJECTS).rglob("*") if path.is_file()}


def age(drafts: TestLake, days: float = 2) -> None:
    """Content becomes older than reaping asks for."""
    then = time.time() - days * 86400
    for path in objects(drafts):
        os.utime(path, (then, then))


def reap(drafts: TestLake, *, in_days: float = 0) -> ReapResult:
    stores, now = drafts.lake.stores, datetime.now(UTC) + timedelta(days=in_days)
    return reap_releases(stores.files, stores.releases, drafts.lake.settings.releases, now=now)


# -- versions


def test_a_release_says_who_when_why_and_what_changed(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    (folder(drafts) / "model.bin").write_bytes(bytes(range(256)))
    first = pipelines.release(NAME, message="for the first time")
    assert (first.new, first.release.version, first.release.message) == (
        True,
        1,
        "for the first time",
    )
    assert (first.release.who, list(first.release.files)) == (this_user(), sorted(draft(drafts)))
    assert datetime.now(UTC) - first.release.at < timedelta(minutes=1)
    write(drafts, "SELECT 2 AS id")
    (folder(drafts) / "tests/quality/g.sql").unlink()
    second = pipelines.release(NAME).changes
    assert (second.added, second.removed, second.changed) == (
        (),
        ("tests/quality/g.sql",),
        ("pipeline.sql",),
    )
    assert "-SELECT 1 AS id" in second.text
    assert "+SELECT 2 AS id" in second.text


def test_unchanged_content_makes_no_version(drafts: TestLake, pipelines: Pipelines) -> None:
    pipelines.release(NAME)
    (folder(drafts) / "__pycache__").mkdir()
    (folder(drafts) / "__pycache__" / "x.pyc").write_bytes(b"x")
    again = pipelines.release(NAME, message="again")
    assert (again.new, again.release.version, again.release.message) == (False, 1, "")


def test_a_release_does_not_change_with_the_draft(drafts: TestLake, pipelines: Pipelines) -> None:
    kept = pipelines.release(NAME).release
    contents = {path: path.read_bytes() for path in objects(drafts)}
    write(drafts, "SELECT 2 AS id")
    pipelines.release(NAME)
    assert pipelines.releases(NAME)[-1] == kept
    assert contents.items() <= {path: path.read_bytes() for path in objects(drafts)}.items()
    loaded = drafts.lake.pipelines.load(released=True).specs[drafts.table(NAME)]
    assert (loaded.version, loaded.source) == (2, "SELECT 2 AS id")


def test_only_the_newest_versions_are_kept_and_numbers_go_on(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    (folder(drafts) / "config.yaml").write_text("max_versions: 2\n")
    dropped = []
    for number in range(1, 5):
        write(drafts, f"SELECT {number} AS id")
        dropped.append(pipelines.release(NAME).dropped)
    assert dropped == [(), (), (1,), (2,)]
    assert [one.version for one in pipelines.releases(NAME)] == [4, 3]
    with pytest.raises(UsageError, match="there is no release 1"):
        pipelines.rollback(NAME, 1)


def test_the_lake_says_how_many_versions_where_a_pipeline_does_not(tmp_path: Path) -> None:
    made = TestLake(tmp_path / "lake", settings={"releases": {"max_versions": 1}})
    for number in (1, 2, 3):
        made.pipeline(NAME, f"SELECT {number} AS id")
        made.lake.pipelines.release(NAME)
    assert [one.version for one in made.lake.pipelines.releases(NAME)] == [3]
    made.lake.close()


def test_a_rollback_is_a_further_version_and_leaves_the_draft(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    first = pipelines.release(NAME).release
    write(drafts, "SELECT 2 AS id")
    pipelines.release(NAME)
    write(drafts, "SELECT 3 AS id")
    before = draft(drafts)
    back = pipelines.rollback(NAME, 1)
    assert (back.release.version, back.release.files, back.release.message) == (
        3,
        first.files,
        "rollback to 1",
    )
    assert draft(drafts) == before
    assert not pipelines.rollback(NAME, 1).new
    assert (
        drafts.lake.pipelines.load(released=True).specs[drafts.table(NAME)].source
        == "SELECT 1 AS id"
    )


@pytest.mark.parametrize(
    ("one", "other", "names", "line"),
    [
        ("1", "2", ("release 1", "release 2"), "+SELECT 2 AS id"),
        ("2", "1", ("release 2", "release 1"), "+SELECT 1 AS id"),
        ("2", "draft", ("release 2", "draft"), "+SELECT 3 AS id"),
        ("draft", "1", ("draft", "release 1"), "-SELECT 3 AS id"),
    ],
)
def test_a_diff_goes_either_way(
    drafts: TestLake, pipelines: Pipelines, one: str, other: str, names: tuple[str, str], line: str
) -> None:
    for number in (1, 2):
        write(drafts, f"SELECT {number} AS id")
        pipelines.release(NAME)
    write(drafts, "SELECT 3 AS id")
    found = pipelines.diff(NAME, one, other)
    assert (found.names, found.changes.changed) == (names, ("pipeline.sql",))
    assert line in found.changes.text


# -- a release is read from the store, and nothing else


def test_a_broken_draft_does_not_touch_the_release(drafts: TestLake, pipelines: Pipelines) -> None:
    pipelines.release(NAME)
    write(drafts, "-- @merge_strategy: nonsense\nSELECT")
    drafts.pipeline("gold.broken", "SELECT {{")
    loaded = drafts.lake.pipelines.load(released=True)
    assert [str(spec.table) for spec in loaded.specs.values()] == ["shop.silver.orders"]
    assert [plan.table for plan in drafts.lake.plan(NAME, released=True)] == [drafts.table(NAME)]


def test_a_flipped_byte_is_an_error_of_that_pipeline_only(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    drafts.pipeline("silver.other", "SELECT 9 AS id")
    pipelines.release("silver.other")
    stored = drafts.folder / object_path(pipelines.release(NAME).release.files["pipeline.sql"])
    data = stored.read_bytes()
    stored.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    for selectors in ((NAME,), ()):
        with pytest.raises(DamagedRelease, match=r"pipeline\.sql was changed"):
            drafts.lake.plan(*selectors, released=True)
    assert drafts.lake.plan("silver.other", released=True)
    assert not pipelines.release(NAME).new
    assert drafts.lake.plan(released=True)  # releasing the same again has made it whole


def test_a_pipeline_without_a_release_is_refused_and_left_out_of_all(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    with pytest.raises(UsageError, match="it has no release, only a draft"):
        drafts.lake.plan(released=True)
    pipelines.release(NAME)
    drafts.pipeline("gold.new", "SELECT * FROM {{ ref('silver.orders') }}")
    for selector in ("gold.new", "silver.orders gold.*", "path:shop/pipelines/gold"):
        with pytest.raises(UsageError, match=r"shop\.gold\.new: it has no release"):
            drafts.lake.plan(selector, released=True)
    for selectors in ((), ("shop.*",), ("silver.orders+",)):  # a new draft does not stop others
        assert [str(plan.table) for plan in drafts.lake.plan(*selectors, released=True)] == [
            "shop.silver.orders"
        ]
    loaded = drafts.lake.pipelines.load(released=True)
    assert [str(table) for table in loaded.left_out(("shop.*",))] == ["shop.gold.new"]
    assert loaded.left_out((), ("gold.new",)) == ()


def test_an_upstream_without_release_and_table_is_named(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    drafts.pipeline("gold.total", "SELECT * FROM {{ ref('silver.orders') }}")
    pipelines.release("gold.total")
    with pytest.raises(UsageError, match=r"shop\.silver\.orders: it has no release"):
        drafts.lake.plan("gold.total", released=True)


def test_a_zone_waits_for_drafts_and_releases_alike(drafts: TestLake, pipelines: Pipelines) -> None:
    drafts.land("orders", "a.csv", "id\n1\n")
    drafts.pipeline("bronze.one", "SELECT id FROM {{ landing_zone('orders') }}")
    pipelines.release("bronze.one")
    for path in (drafts.folder / "shop/pipelines/bronze/one").iterdir():
        path.unlink() if path.is_file() else None
    drafts.pipeline("bronze.two", "SELECT id FROM {{ landing_zone('orders', pattern='*.csv') }}")
    zone, tools = ZoneName("shop", "orders"), drafts.lake.pipelines.services
    for released in (False, True):
        specs = drafts.lake.pipelines.load(released=released).specs
        found = {
            (reader.table.name, reader.pattern)
            for reader in readers_among(drafts_and_releases(specs, tools), zone)
        }
        assert found == {("one", None), ("two", "*.csv")}, released
    pipelines.delete("bronze.one")
    specs = drafts.lake.pipelines.load().specs
    assert [
        reader.table.name for reader in readers_among(drafts_and_releases(specs, tools), zone)
    ] == ["two"]


# -- drafts


def test_a_draft_is_saved_listed_and_restored(drafts: TestLake, pipelines: Pipelines) -> None:
    (folder(drafts) / "model.bin").write_bytes(bytes(range(256)))
    old = draft(drafts)
    saved, is_new = pipelines.save(NAME)
    assert (is_new, pipelines.save(NAME)[1]) == (True, False)
    write(drafts, "SELECT 2 AS id")
    (folder(drafts) / "extra.sql").write_text("x")
    (folder(drafts) / "model.bin").unlink()
    now = draft(drafts)
    which, done = pipelines.restore(NAME, saved.digest[:8])
    assert (which, done.removed) == (f"saved draft {saved.digest[:12]}", ("extra.sql",))
    assert draft(drafts) == old
    assert drafts.lake.plan(NAME)  # looking saves nothing
    newest = pipelines.drafts(NAME)[0]
    assert (len(pipelines.drafts(NAME)), newest.digest) == (
        2,
        drafts.lake.stores.releases.drafts()[0].digest,
    )
    pipelines.restore(NAME, newest.digest)
    assert draft(drafts) == now


def test_a_version_is_restored_as_the_draft(drafts: TestLake, pipelines: Pipelines) -> None:
    pipelines.release(NAME)
    old = draft(drafts)
    write(drafts, "SELECT 2 AS id")
    which, done = pipelines.restore(NAME, "1")
    assert (which, done.written, draft(drafts)) == ("release 1", ("pipeline.sql",), old)
    assert [one.version for one in pipelines.releases(NAME)] == [1]


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("7", "no release 7"),
        ("zzzz", "no release or saved draft"),
        (None, "say what to restore"),
        ("", "no rel"),
    ],
)
def test_a_state_that_is_not_there_is_refused_and_nothing_changed(
    drafts: TestLake, pipelines: Pipelines, state: str | None, said: str
) -> None:
    pipelines.release(NAME)
    before = draft(drafts)
    with pytest.raises(UsageError, match=said):
        pipelines.restore(NAME, state)
    assert draft(drafts) == before


def test_a_folder_that_is_gone_comes_back_as_it_was_last(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    pipelines.release(NAME)
    write(drafts, "SELECT 2 AS id")
    pipelines.save(NAME)
    before = draft(drafts)
    for path in sorted(folder(drafts).rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert [state.draft for state in pipelines.list()] == ["absent"]
    with pytest.raises(UsageError, match="its folder is gone"):
        pipelines.release(NAME)
    pipelines.restore(NAME)
    assert draft(drafts) == before


def test_the_list_says_how_drafts_stand_to_releases(drafts: TestLake, pipelines: Pipelines) -> None:
    def state() -> tuple[str, int | None]:
        (one,) = pipelines.list()
        return one.draft, one.version

    assert state() == ("unreleased", None)
    pipelines.release(NAME)
    assert state() == ("released", 1)
    write(drafts, "SELECT 2 AS id")
    assert state() == ("changed", 1)
    write(drafts, "-- @oops: no pipeline at all\n")
    assert state() == ("changed", 1)


# -- deleting


def test_a_deleted_pipeline_can_be_restored_until_it_is_purged(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    pipelines.release(NAME)
    write(drafts, "SELECT 2 AS id")
    before = draft(drafts)
    deleted = pipelines.delete(NAME)
    assert (deleted.draft, pipelines.list()[0]) == ("deleted", deleted)
    assert deleted.deleted_at
    assert deleted.purged_at == deleted.deleted_at + timedelta(days=30)
    assert not folder(drafts).exists()
    with pytest.raises(UsageError, match="it was deleted on"):
        drafts.lake.plan(NAME, released=True)
    with pytest.raises(UsageError, match="already deleted"):
        pipelines.delete(NAME)
    with pytest.raises(UsageError, match="it was deleted"):
        pipelines.rollback(NAME, 1)
    age(drafts)
    reap(drafts, in_days=29)
    pipelines.restore(NAME)
    assert (draft(drafts), pipelines.list()[0].draft) == (before, "changed")
    assert drafts.lake.stores.releases.deleted() == {}
    assert drafts.lake.plan(NAME, released=True)


def test_a_purged_pipeline_is_gone_with_its_content(drafts: TestLake, pipelines: Pipelines) -> None:
    drafts.pipeline("silver.other", "SELECT 9 AS id")
    pipelines.release("silver.other")
    pipelines.release(NAME)
    pipelines.delete(NAME)
    assert reap(drafts, in_days=31) == ReapResult(
        drafts=1, pipelines=1, releases=1, objects=3, bytes=reap_size(drafts)
    )
    assert [str(one.table) for one in pipelines.list()] == ["shop.silver.other"]
    with pytest.raises(UnknownName):
        pipelines.restore(NAME)
    assert drafts.lake.plan("silver.other", released=True)


def reap_size(drafts: TestLake) -> int:
    return len("SELECT 1 AS id") + len("tags: [a]\n") + len("SELECT * FROM {{ this }} WHERE id < 0")


def test_hidden_files_of_somebody_else_survive_a_deletion(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    (folder(drafts) / "tests/.notes").write_text("mine")
    pipelines.delete(NAME)
    assert draft(drafts) == {"tests/.notes": b"mine"}
    pipelines.restore(NAME)
    assert sorted(draft(drafts)) == [
        "config.yaml",
        "pipeline.sql",
        "tests/.notes",
        "tests/quality/g.sql",
    ]


def test_a_deleted_pipeline_that_is_written_anew_is_not_purged(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    pipelines.release(NAME)
    pipelines.delete(NAME)
    drafts.pipeline(NAME, "SELECT 5 AS id")
    assert reap(drafts, in_days=365).pipelines == 0
    assert [(one.draft, one.version) for one in pipelines.list()] == [("changed", 1)]


def test_reaping_takes_what_dropped_versions_and_expired_drafts_consisted_of(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    (folder(drafts) / "config.yaml").write_text("max_versions: 1\n")
    for number in range(5):
        write(drafts, f"SELECT {number} AS id")
        pipelines.release(NAME)
    assert reap(drafts).objects == 0  # drafts still speak of it, and it is young
    age(drafts)
    assert reap(drafts).objects == 0
    done = reap(drafts, in_days=8)
    assert (done.drafts, done.objects) == (5, 4)
    assert len(objects(drafts)) == 3
    assert drafts.lake.plan(released=True)


def test_releasing_and_reaping_at_once_loses_nothing(
    drafts: TestLake, pipelines: Pipelines
) -> None:
    """The reaper's clock is ahead, so that no content is young to it: only the order of their steps
    protects a release.
    """
    (folder(drafts) / "config.yaml").write_text("max_versions: 1\n")
    done = Event()

    def release_on_and_on() -> None:
        try:
            for number in range(12 * SCALE):
                write(drafts, f"SELECT {number % 3} AS id")  # so that old content is used again
                pipelines.release(NAME)
        finally:
            done.set()

    with ThreadPoolExecutor(1) as pool:
        releasing = pool.submit(release_on_and_on)
        removed = 0
        while not done.is_set():
            removed += reap(drafts, in_days=20).objects
        releasing.result()
    for one in drafts.lake.stores.releases.all():
        assert fetch_content(drafts.lake.stores.files, one.files)
    assert removed
