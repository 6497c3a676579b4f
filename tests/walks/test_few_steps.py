"""The shortest ways by which walks lost, doubled or deleted rows, each as a test of its own.

The numbers are the points of issue 26.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakebed.errors import LakebedError
from lakebed.settings import Settings
from lakebed.tables import UndoneFiles
from tests.servers.postgres import PostgresServer
from tests.walks.clocks import clock_ahead
from tests.walks.feed import TABLE, Feed, SparkFeed
from tests.walks.place import Place, new_place
from tests.walks.twins import MONTHS, TwinWalk, walk_with_twins
from tests.walks.walk import WEEK, YEAR, Walk


def new_walk(folder: Path, feed: type[Feed]) -> Walk:
    place = new_place(
        folder / "lake",
        Settings(),
        lambda kept: feed(kept, archive=False, strategy="append_only"),
    )
    return Walk(folder, [place])


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    made = new_walk(tmp_path / "walk", Feed)
    yield made
    made.close()


@pytest.fixture
def lake(walk: Walk) -> Place:
    return walk.places[0]


def run(place: Place, *rows: int) -> int:
    """Land a file for each row, and run; the snapshot."""
    for row in rows:
        place.feed.land_row(row)
    head = place.feed.run()
    assert head
    return head.id


def undo_second(place: Place, *, files: UndoneFiles) -> None:
    """Two runs, of which the second is rolled back."""
    first = run(place, 1)
    run(place, 2)
    place.lake.tables.rollback(TABLE, first, files=files)


def expire(place: Place) -> None:
    place.lake.care(now=datetime.now(UTC) + WEEK)


def rebuild(place: Place) -> None:
    place.lose_catalog()
    place.lake.rebuild_catalog()


def held(place: Place) -> set[int]:
    return {row for row, state in place.feed.states().items() if state == "held"}


# -- 1: state that outlives its snapshots


@pytest.mark.parametrize("later", [WEEK, YEAR])
def test_files_of_expired_snapshots_are_not_read_twice_after_the_catalog_was_lost(
    lake: Place, later: object
) -> None:
    run(lake, 1)
    run(lake, 2)
    lake.lake.care(now=datetime.now(UTC) + later)  # type: ignore[operator]
    rebuild(lake)
    run(lake, 3)
    assert lake.feed.rows() == [1, 2, 3]


def test_a_held_file_stays_away_after_the_catalog_was_lost(lake: Place) -> None:
    undo_second(lake, files="exclude")
    rebuild(lake)
    run(lake, 3)
    assert (lake.feed.rows(), held(lake)) == ([1, 3], {2})


def test_a_requeued_file_arrives_after_the_catalog_was_lost(lake: Place) -> None:
    undo_second(lake, files="requeue")
    rebuild(lake)
    run(lake, 3)
    assert lake.feed.rows() == [1, 2, 3]


def test_a_file_that_was_requeued_since_the_backup_arrives_after_the_restore(
    walk: Walk, lake: Place
) -> None:
    first = run(lake, 1)
    run(lake, 2)
    walk.back_up(lake)
    lake.lake.tables.rollback(TABLE, first, files="requeue")
    walk.restore(lake)
    run(lake, 3)
    assert lake.feed.rows() == [1, 2, 3]


# -- 2: rollbacks after an undone snapshot has expired


def test_a_held_file_does_not_return_once_its_snapshot_has_expired(lake: Place) -> None:
    undo_second(lake, files="exclude")
    third = run(lake, 3)
    expire(lake)
    lake.lake.tables.rollback(TABLE, third, files="exclude")
    assert held(lake) == {2}
    lake.feed.run(full_refresh=True)
    assert lake.feed.rows() == [1, 3]


def test_a_requeued_file_still_arrives_once_its_snapshot_has_expired(
    walk: Walk, lake: Place
) -> None:
    undo_second(lake, files="requeue")
    walk.append_elsewhere(lake)
    expire(lake)
    head = lake.feed.head()
    assert head
    lake.lake.tables.rollback(TABLE, head.id, files="requeue")
    assert lake.feed.waits() == {2}


def test_a_full_refresh_does_not_ask_for_a_held_file_that_was_deleted(lake: Place) -> None:
    undo_second(lake, files="exclude")
    third = run(lake, 3)
    expire(lake)
    lake.lake.tables.rollback(TABLE, third, files="exclude")
    (lake.feed.landing / "2.csv").unlink()
    lake.feed.run(full_refresh=True)
    assert lake.feed.rows() == [1, 3]


# -- 3: copied and moved lakes whose catalogs were rebuilt


def copied(walk: Walk) -> Place:
    """A copy of the lake whose catalog was lost and rebuilt there; it says so, if it refuses."""
    walk.copy(walk.places[0])
    copy = walk.places[1]
    copy.lose_catalog()
    with suppress(LakebedError):
        copy.lake.rebuild_catalog()
    return copy


def test_no_orphan_is_removed_from_a_copy_whose_tables_point_at_the_original(walk: Walk) -> None:
    run(walk.places[0], 1)
    copy = copied(walk)
    with suppress(LakebedError):
        copy.lake.care(now=datetime.now(UTC) + WEEK, only=["remove_orphans"])
    assert {path for path in copy.needed if not (copy.folder / path).exists()} == set()


@pytest.mark.parametrize("change", ["run", "hold", "expire"])
def test_nothing_that_happens_in_a_copy_changes_the_original(walk: Walk, change: str) -> None:
    original = walk.places[0]
    first = run(original, 1)
    run(original, 2)
    copy = copied(walk)
    before = original.tree()
    copy.feed.land_row(3)
    with suppress(LakebedError):
        if TABLE not in copy.lake.stores.catalog.pointers():
            return  # the rebuild refused to register it
        if change == "run":
            copy.feed.run()
        elif change == "hold":
            copy.lake.tables.rollback(TABLE, first, files="exclude")
        else:
            expire(copy)
    assert original.tree() == before
    assert original.feed.rows() == [1, 2]


def test_a_moved_lake_that_lost_its_catalog_has_a_way_back(walk: Walk, lake: Place) -> None:
    run(lake, 1)
    run(lake, 2)
    walk.move(lake)
    lake.lose_catalog()
    walk.mend(lake)
    assert lake.feed.rows() == [1, 2]
    assert lake.reached()
    run(lake, 3)
    assert lake.feed.rows() == [1, 2, 3]


# -- 4: backups restored in another folder


@pytest.mark.parametrize("way", ["move", "copy"])
def test_a_restore_in_another_folder_follows_what_was_committed_since(walk: Walk, way: str) -> None:
    lake = walk.places[0]
    run(lake, 1)
    walk.back_up(lake)
    run(lake, 2)
    getattr(walk, way)(lake)
    there = walk.places[-1]
    walk.restore(there)
    walk.mend(there)
    there.lake.care(now=datetime.now(UTC) + WEEK, only=["remove_orphans"])
    assert there.feed.rows() == [1, 2]
    assert there.feed.waits() == set()
    run(there, 3)
    assert there.feed.rows() == [1, 2, 3]


# -- 5: second databases


@pytest.fixture
def twins(tmp_path: Path, postgres_server: PostgresServer) -> Iterator[TwinWalk]:
    """A lake, and a second database with its backup."""
    folder = tmp_path / "twins"
    folder.mkdir()
    made = walk_with_twins(postgres_server)(folder, 0)
    lake = made.places[0]
    run(lake, 1)
    run(lake, 2)
    made.back_up(lake)
    made.restore_into_second_database(lake)
    yield made
    made.close()


@pytest.mark.postgres
def test_a_drop_and_care_in_a_second_database_delete_nothing_of_production(
    twins: TwinWalk,
) -> None:
    (lake,), (twin,) = twins.places, twins.twins
    assert twin.feed.rows() == [1, 2], "a restore drill reads"
    with suppress(LakebedError):
        twin.lake.tables.drop(TABLE)
    with suppress(LakebedError):
        twin.lake.care(now=datetime.now(UTC) + MONTHS)
    assert lake.feed.rows() == [1, 2]


@pytest.mark.postgres
def test_no_lake_is_created_on_the_database_of_another(twins: TwinWalk) -> None:
    twins.create_lake_on_the_same_database(twins.places[0])


@pytest.mark.postgres
def test_an_empty_database_reads_no_file_a_second_time(twins: TwinWalk) -> None:
    twins.run_with_an_empty_database(twins.places[0])


# -- 6: clocks


@pytest.fixture
def with_spark(tmp_path: Path, spark_home: Path) -> Iterator[Walk]:
    made = new_walk(tmp_path / "walk", SparkFeed)
    run(made.places[0], 1)
    yield made
    made.close()


@pytest.mark.spark
def test_a_table_is_not_blocked_by_another_program_whose_clock_was_ahead(with_spark: Walk) -> None:
    (lake,) = with_spark.places
    with clock_ahead(600.0):
        with_spark.append_elsewhere(lake)
    run(lake, 2)
    assert lake.feed.rows() == [1, 2, 100_000]


@pytest.mark.spark
def test_a_table_is_not_blocked_by_a_tag_that_was_set_by_a_clock_ahead(with_spark: Walk) -> None:
    (lake,) = with_spark.places
    with clock_ahead(600.0), suppress(LakebedError):
        lake.lake.tables.tag(TABLE, "v1")
    run(lake, 2)
    assert lake.feed.rows() == [1, 2]


# -- 7: symbolic links


@pytest.mark.parametrize("strategy", ["append_only", "full_refresh"])
def test_the_rows_of_a_file_that_a_link_replaced_stay(tmp_path: Path, strategy: str) -> None:
    lake = new_place(
        tmp_path / "lake", Settings(), lambda kept: Feed(kept, archive=False, strategy=strategy)
    )
    run(lake, 1)
    kept = lake.feed.landing / "_moved" / "1.csv"
    kept.parent.mkdir()
    (lake.feed.landing / "1.csv").rename(kept)
    (lake.feed.landing / "1.csv").symlink_to(kept)
    run(lake, 2)
    assert lake.feed.rows() == [1, 2]
    lake.feed.run(full_refresh=True)
    assert lake.feed.rows() == [1, 2]
    lake.close()


def test_a_waiting_file_behind_a_link_out_of_the_zone_is_read_or_refused(
    tmp_path: Path, lake: Place
) -> None:
    run(lake, 1)
    (tmp_path / "2.csv").write_text("id\n2\n")
    (lake.feed.landing / "2.csv").symlink_to(tmp_path / "2.csv")
    with suppress(LakebedError):
        run(lake, 3)
        assert lake.feed.rows() == [1, 2, 3]
