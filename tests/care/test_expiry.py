"""Expiry: what was superseded long ago goes with its files, and nothing that anybody still
reaches.
"""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from lakebed.care.removal import expiry
from lakebed.care.removal.removal import FOLDER, Removal, write_removal
from lakebed.errors import LakebedError, PointerMoved
from lakebed.ports import Files, InputPin, RemoveRef, RunRecord, SetRef
from tests.support.lakes.care_lakes import CareLake, entry, states
from tests.support.tables import new_location

EXPIRE = {"only": ["expire_snapshots"]}


def test_a_superseded_snapshot_goes_with_the_files_that_only_it_reached(cared: CareLake) -> None:
    cared.make("silver.orders", [1, 2])
    head = cared.overwrite("silver.orders", [3])
    before = cared.files()
    assert cared.care(days=6, **EXPIRE).entries == ()
    done = entry(cared.care(days=8, **EXPIRE), "expire_snapshots")
    assert (done.state, done.counts["snapshots"], done.subject) == ("done", 2, "shop.silver.orders")
    gone = before - cared.files()
    assert done.counts["files"] == len(gone) > 2
    assert done.bytes > 0
    assert set(cared.meta("silver.orders").snapshots) == {head}
    assert cared.rows("silver.orders") == [3]
    assert cared.files() >= cared.reached()
    assert cared.care(days=8, **EXPIRE).entries == ()


def test_a_dry_run_says_what_is_due_and_changes_nothing(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    cared.overwrite("silver.orders", [2])
    before, snapshots = cared.files(""), cared.meta("silver.orders").snapshots
    done = entry(cared.care(days=9, dry_run=True, **EXPIRE), "expire_snapshots")
    assert (done.state, done.counts) == ("reported", {"snapshots": 2})
    assert (cared.files(""), cared.meta("silver.orders").snapshots) == (before, snapshots)
    assert cared.lake.care_history() == ()


def test_what_was_done_is_written_down_and_told_to_followers(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    cared.overwrite("silver.orders", [2])
    cared.care(days=9, **EXPIRE)
    (kept,) = cared.lake.care_history()
    assert (kept.action, kept.subject, kept.state) == (
        "expire_snapshots",
        "shop.silver.orders",
        "done",
    )
    assert kept.counts["files"] > 0
    assert kept.bytes > 0
    (told,) = cared.lake.stores.events.since(kinds=["expired"])
    assert len(told.event.detail["snapshots"].split(",")) == 2


def test_tags_pins_and_holds_keep_snapshots_and_their_rows(cared: CareLake) -> None:
    name = cared.make("silver.orders", [1])
    states_ = [cared.meta("silver.orders").refs["main"].snapshot]
    states_ += [cared.overwrite("silver.orders", [number]) for number in range(2, 6)]
    stores = cared.lake.stores
    stores.catalog.amend(name, [SetRef("v1", states_[0], "tag")])
    stores.events.protect("a reader", name, [states_[1]])
    running = RunRecord("a" * 32, "i", cared.name("gold.other"), "running", datetime.now(UTC))
    stores.records.write(running)
    stores.records.pin("a" * 32, [InputPin(name, states_[2])])
    cared.care(days=99, **EXPIRE)
    assert set(cared.meta("silver.orders").snapshots) == {
        states_[0],
        states_[1],
        states_[2],
        states_[4],
    }
    assert [cared.rows("silver.orders", state) for state in (*states_[:3], states_[4])] == [
        [1],
        [2],
        [3],
        [5],
    ]
    stores.catalog.amend(name, [RemoveRef("v1")])
    stores.events.unprotect("a reader")
    stores.records.unpin(["a" * 32])
    cared.care(days=99, **EXPIRE)
    assert set(cared.meta("silver.orders").snapshots) == {states_[4]}


def test_files_that_a_clone_shares_stay_until_the_clone_needs_them_no_more(cared: CareLake) -> None:
    name = cared.make("silver.orders", [1, 2])
    cared.lake.tables.clone(name, cared.name("silver.copy"))
    cared.overwrite("silver.orders", [9])
    cared.care(days=9, **EXPIRE)
    assert cared.rows("silver.copy") == [1, 2]
    cared.overwrite("silver.copy", [7])
    cared.care(days=9, **EXPIRE)
    assert (cared.rows("silver.orders"), cared.rows("silver.copy")) == ([9], [7])
    assert not any(
        "silver/orders/data" in path and path not in cared.reached() for path in cared.files()
    )


def test_files_that_a_dropped_clone_shares_stay_while_it_can_be_restored(cared: CareLake) -> None:
    name = cared.make("silver.orders", [1, 2])
    cared.lake.tables.clone(name, cared.name("silver.copy"))
    cared.lake.tables.drop(cared.name("silver.copy"))
    cared.overwrite("silver.orders", [9])
    cared.care(days=9)
    cared.lake.tables.restore("silver.copy")
    assert cared.rows("silver.copy") == [1, 2]


def test_metadata_files_that_the_table_knows_no_more_go_too(cared: CareLake) -> None:
    cared.make("silver.orders", [0], properties={"write.metadata.previous-versions-max": "2"})
    for number in range(5):
        cared.overwrite("silver.orders", [number])
    cared.care(days=9, **EXPIRE)
    left = [path for path in cared.files() if path.endswith(".metadata.json")]
    assert set(left) <= cared.reached()
    assert len(left) == 3


def test_a_table_that_somebody_works_on_is_skipped_and_said_so(cared: CareLake) -> None:
    name = cared.make("silver.orders", [1])
    cared.overwrite("silver.orders", [2])
    with cared.lake.tables.lease(name, holder="a run"):
        result = cared.care(days=9, **EXPIRE)
    done = entry(result, "expire_snapshots")
    assert (done.state, result.exit_code) == ("skipped", 0)
    assert "a run" in done.message
    assert len(cared.meta("silver.orders").snapshots) == 3
    assert states(cared.care(days=9, **EXPIRE)) == {
        ("expire_snapshots", "shop.silver.orders"): "done"
    }


def test_one_table_that_fails_does_not_stop_the_others(cared: CareLake) -> None:
    for table in ("silver.a", "silver.b"):
        cared.make(table, [1])
        cared.overwrite(table, [2])
    first = min(cared.meta("silver.a").snapshots.values(), key=lambda snapshot: snapshot.at).id
    (old,) = (path for path in cared.files() if f"silver/a/metadata/snap-{first}-" in path)
    (cared.folder / old).unlink()
    result = cared.care(days=9, **EXPIRE)
    assert sorted(states(result).items()) == [
        (("expire_snapshots", "shop.silver.a"), "failed"),
        (("expire_snapshots", "shop.silver.b"), "done"),
    ]
    assert result.exit_code == 1
    assert len(cared.meta("silver.b").snapshots) == 1


def test_a_tag_set_after_the_plan_is_honoured(
    cared: CareLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = cared.make("silver.orders", [1])
    first = cared.meta("silver.orders").refs["main"].snapshot
    cared.overwrite("silver.orders", [2])
    tagged: list[bool] = []

    def late(files: Files, removal: Removal) -> None:
        write_removal(files, removal)
        if not tagged:
            tagged.append(True)
            cared.lake.stores.catalog.amend(name, [SetRef("v1", first, "tag")])

    monkeypatch.setattr(expiry, "write_removal", late)
    cared.care(days=9, **EXPIRE)
    assert cared.rows("silver.orders", "v1") == [1]
    assert cared.files(FOLDER) == set()


class Killed(BaseException):
    """As good as SIGKILL for whoever catches exceptions."""


@pytest.mark.parametrize(
    "point", ["write_removal", "_forget_snapshots", "delete_files", "discard_removal"]
)
def test_killed_anywhere_the_next_care_finishes(
    cared: CareLake, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    cared.make("silver.orders", [1, 2])
    cared.overwrite("silver.orders", [3])

    for when in ("before", "after"):
        real = getattr(expiry, point)

        def dying(
            *given: object, _real: object = real, _when: str = when, **options: object
        ) -> object:
            if _when == "after":
                _real(*given, **options)  # type: ignore[operator]
            raise Killed

        monkeypatch.setattr(expiry, point, dying)
        with suppress(Killed):
            cared.care(days=9, only=["expire_snapshots", "finish_removal"])
        monkeypatch.setattr(expiry, point, real)
    cared.care(days=9, only=["expire_snapshots", "finish_removal"])
    assert cared.rows("silver.orders") == [3]
    assert cared.files(FOLDER) == set()
    assert {path for path in cared.files() if "/data/" in path} <= cared.reached()
    assert {path for path in cared.files() if path.endswith(".avro")} <= cared.reached()


def test_while_a_table_cannot_be_read_files_wait(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    cared.overwrite("silver.orders", [2])
    broken = cared.make("silver.broken", [1])
    pointer = cared.lake.stores.catalog.pointers([broken])[broken]
    file = cared.folder / str(cared.lake.root.relative(pointer.location))
    content = file.read_bytes()
    file.write_bytes(b"{")
    before = {path for path in cared.files() if "/data/" in path}
    cared.care(days=9, **EXPIRE)
    assert {path for path in cared.files() if "/data/" in path} == before
    file.write_bytes(content)
    assert ("finish_removal", "shop.silver.orders") in states(cared.care(days=9))
    assert {path for path in cared.files() if "silver/orders/data" in path} <= cared.reached()


def test_a_busy_pointer_is_looked_at_again(
    cared: CareLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    cared.make("silver.orders", [1])
    cared.overwrite("silver.orders", [2])
    catalog = cared.lake.stores.catalog
    real, moved = catalog.amend, list[bool]()

    def busy(*given: object, **options: object) -> None:
        if len(moved) < 2:
            moved.append(True)
            raise PointerMoved("shop.silver.orders")
        real(*given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(catalog, "amend", busy)
    assert entry(cared.care(days=9, **EXPIRE), "expire_snapshots").state == "done"
    assert cared.files(FOLDER) == set()


def test_a_landing_file_that_a_table_took_up_is_nobodys_to_remove() -> None:
    from lakebed.care.removal.removal import removable

    assert removable("shop/warehouse/silver/t/data/x.parquet")
    assert not removable("shop/landing/orders/x.parquet")
    assert not removable("shop/pipelines/silver/x/pipeline.sql")
    assert not removable(".data/lake.db")
    assert not removable(None)


def test_per_pipeline_override_changes_what_care_does(cared: CareLake) -> None:
    for table in ("silver.short", "silver.long"):
        cared.make(table, [1])
        cared.overwrite(table, [2])
    folder = cared.folder / "shop/pipelines/silver/long"
    folder.mkdir(parents=True)
    (folder / "pipeline.sql").write_text("SELECT broken {{")
    (folder / "config.yaml").write_text("care: {snapshot_max_age_days: 30}\n")
    assert set(states(cared.care(days=9, **EXPIRE))) == {("expire_snapshots", "shop.silver.short")}
    assert set(states(cared.care(days=31, **EXPIRE))) == {("expire_snapshots", "shop.silver.long")}


def test_while_a_pipelines_own_word_cannot_be_read_its_table_is_left_alone(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    cared.overwrite("silver.orders", [2])
    folder = cared.folder / "shop/pipelines/silver/orders"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("care:\n  snapshot_max_age_days: 0.1\n")
    done = entry(cared.care(days=99, **EXPIRE), "expire_snapshots")
    assert done.state == "skipped"
    assert "retention below the safe bound" in done.message
    assert "config.yaml:2" in done.message
    assert len(cared.meta("silver.orders").snapshots) == 3


def test_an_unknown_table_or_action_is_refused(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    for tables, only in (([], ["expyre_snapshots"]), (["silver.order"], [])):
        with pytest.raises(LakebedError) as refusal:
            cared.care(*tables, only=only)
        assert "Did you mean" in refusal.value.next


def test_only_the_named_tables_are_cared_for(cared: CareLake) -> None:
    for table in ("silver.a", "silver.b", "gold.a"):
        cared.make(table, [1])
        cared.overwrite(table, [2])
    assert set(states(cared.care("silver.*", days=9))) == {
        ("expire_snapshots", f"shop.silver.{name}") for name in "ab"
    }


def test_a_clone_that_is_being_made_keeps_the_files_of_its_snapshot(
    cared: CareLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cloning protects the snapshot first, and then checks that it still exists."""
    name = cared.make("silver.orders", [1, 2])
    first = cared.meta("silver.orders").refs["main"].snapshot
    cared.overwrite("silver.orders", [3])
    stores, real = cared.lake.stores, expiry._forget_snapshots
    pointer = stores.catalog.pointers([name])[name]

    def held(*given: Any) -> None:
        stores.events.protect("a clone", name, [first])
        real(*given)

    monkeypatch.setattr(expiry, "_forget_snapshots", held)
    assert "a clone protects" in entry(cared.care(days=9, **EXPIRE), "expire_snapshots").message
    copy = cared.name("silver.copy")
    stores.catalog.clone(pointer, copy, snapshot=first, location=new_location(cared.lake, copy))
    stores.events.unprotect("a clone")
    assert entry(cared.care(days=9), "finish_removal").state == "done"
    assert cared.rows("silver.copy") == [1, 2]
    assert cared.rows("silver.orders") == [3]
