"""Dropped tables: restorable for their time, then gone with every file that nobody else reaches."""

from contextlib import suppress
from typing import Any

import pytest

from lakebed.care.removal import dropped, expiry
from lakebed.care.removal.removal import FOLDER, write_removal
from lakebed.errors import LakebedError
from lakebed.tables import USED_MARKER
from tests.support.lakes.care_lakes import CareLake, entry
from tests.support.tables import protected

PURGE = {"only": ["purge_dropped", "finish_removal"]}


def test_a_dropped_table_is_kept_for_its_days_and_then_purged(cared: CareLake) -> None:
    cared.make("silver.orders", [1, 2])
    cared.make("silver.other", [3])
    cared.lake.tables.drop("silver.orders")
    assert cared.care(days=29, orphans=True).entries == ()
    done = entry(cared.care(days=31, **PURGE), "purge_dropped")
    assert done.state == "done"
    assert done.counts["tables"] == 1
    assert done.counts["files"] > 3
    assert {path for path in cared.files() if "silver/orders/" in path} == {
        f"shop/warehouse/silver/orders/{USED_MARKER}"
    }
    assert cared.lake.stores.catalog.dropped() == ()
    assert [noted.event.kind for noted in cared.lake.stores.events.since(kinds=["purged"])] == [
        "purged"
    ]
    assert cared.rows("silver.other") == [3]
    with pytest.raises(LakebedError):
        cared.lake.tables.restore("silver.orders")


def test_its_folder_is_not_used_for_the_next_table_of_its_name(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    cared.lake.tables.drop("silver.orders")
    cared.care(days=31, **PURGE)
    cared.make("silver.orders", [2])
    assert not cared.meta("silver.orders").location.endswith("/orders")
    cared.care(days=60, orphans=True)
    assert cared.rows("silver.orders") == [2]


def test_a_purged_table_leaves_its_clones_whole_and_a_purged_clone_its_source(
    cared: CareLake,
) -> None:
    cared.make("silver.orders", [1])
    cared.lake.tables.clone("silver.orders", "shop.silver.copy")
    cared.lake.tables.clone("silver.orders", "shop.silver.second")
    cared.lake.tables.drop("silver.orders")
    cared.care(days=31, **PURGE)
    assert cared.rows("silver.copy") == [1]
    cared.lake.tables.drop("silver.copy")
    cared.care(days=31, **PURGE)
    assert cared.rows("silver.second") == [1]
    cared.lake.tables.drop("silver.second")
    cared.care(days=31, **PURGE)
    assert {path for path in cared.files() if not path.endswith(USED_MARKER)} == set()


def test_a_setting_of_the_table_keeps_it_longer(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    folder = cared.folder / "shop/pipelines/silver/orders"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("care: {dropped_max_age_days: 90}\n")
    cared.lake.tables.drop("silver.orders")
    assert cared.care(days=31, **PURGE).entries == ()
    assert entry(cared.care(days=91, **PURGE), "purge_dropped").state == "done"


class Killed(BaseException):
    """As good as SIGKILL for whoever catches exceptions."""


@pytest.mark.parametrize("point", ["write_removal", "_mark", "delete_files", "discard_removal"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_anywhere_the_next_care_finishes(
    cared: CareLake, monkeypatch: pytest.MonkeyPatch, point: str, when: str
) -> None:
    cared.make("silver.orders", [1])
    cared.append("silver.orders", [2])
    cared.lake.tables.drop("silver.orders")
    module = dropped if point == "write_removal" else expiry
    real = getattr(module, point)

    def dying(*given: object, **options: object) -> None:
        if when == "after":
            real(*given, **options)
        raise Killed

    monkeypatch.setattr(module, point, dying)
    with suppress(Killed):
        cared.care(days=31, **PURGE)
    monkeypatch.setattr(module, point, real)
    if cared.lake.stores.catalog.dropped():  # it can be restored, so all of it must be there
        cared.lake.tables.restore("silver.orders")
        assert cared.rows("silver.orders") == [1, 2]
        cared.lake.tables.drop("silver.orders")
    cared.care(days=31, **PURGE)
    assert cared.files() == {f"shop/warehouse/silver/orders/{USED_MARKER}"}
    assert cared.files(FOLDER) == set()


def test_a_dropped_table_stays_while_somebody_holds_a_state_of_it_or_its_files_are_not_its_own(
    cared: CareLake,
) -> None:
    cared.make("silver.orders", [1])
    cared.make("silver.borrowed", [2], properties={"gc.enabled": "false"})
    with protected(cared.lake, "silver.orders", seconds=10**8):
        cared.lake.tables.drop("silver.orders")
        cared.lake.tables.drop("silver.borrowed")
        before = cared.files()
        planned = cared.care(days=31, dry_run=True, **PURGE).entries
        messages = {one.subject: one.message for one in cared.care(days=31, **PURGE).entries}
        waits = messages["shop.silver.orders"]
        assert "protects a snapshot of it" in waits
        assert waits in [one.message for one in planned]
        assert "gc.enabled" in messages["shop.silver.borrowed"]
        assert cared.files() == before
    assert ("done", 1) in {
        (one.state, one.counts.get("tables")) for one in cared.care(days=31, **PURGE).entries
    }


def test_what_is_protected_just_before_the_purge_keeps_its_files(
    cared: CareLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    cared.make("silver.orders", [1])
    gone = cared.lake.tables.drop("silver.orders")
    snapshot = cared.lake.stores.catalog.metadata([gone.pointer])[gone.table].refs["main"].snapshot
    real, events = write_removal, cared.lake.stores.events

    def protecting(*given: Any) -> None:
        real(*given)
        events.protect("mirror", gone.hidden_name, [snapshot])

    monkeypatch.setattr(dropped, "write_removal", protecting)
    before = cared.files()
    done = entry(cared.care(days=31, **PURGE), "purge_dropped")
    assert "mirror protects a snapshot" in done.message
    assert cared.files() == before
    events.unprotect("mirror")
    assert entry(cared.care(days=31, **PURGE), "finish_removal").counts["files"] > 0
    assert cared.files() == {f"shop/warehouse/silver/orders/{USED_MARKER}"}


def test_a_clone_that_is_being_read_does_not_keep_its_dropped_source_for_ever(
    cared: CareLake,
) -> None:
    cared.make("silver.orders", [1])
    cared.lake.tables.clone("silver.orders", "shop.silver.copy")
    cared.lake.tables.drop("silver.orders")
    with protected(cared.lake, "silver.copy", seconds=10**8):
        assert entry(cared.care(days=31, **PURGE), "purge_dropped").counts["tables"] == 1
    assert cared.rows("silver.copy") == [1]
