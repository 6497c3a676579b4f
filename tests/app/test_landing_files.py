"""Which landing files a table has, through rollbacks, restores and copies: none is read twice, none
is lost.
"""

import random
import shutil
from pathlib import Path

import pytest

from lakebed.tables import published_snapshots
from tests.support.lakes.fed_lake import Fed
from tests.support.lakes.kept_lake import Kept
from tests.support.scale import SCALE


@pytest.mark.parametrize("with_times", [True, False])
def test_a_restored_folder_is_not_read_again(kept: Kept, tmp_path: Path, with_times: bool) -> None:
    fed = Fed(kept)
    for _ in range(2):
        fed.land()
        fed.run()
    root = kept.lake.root.folder
    shutil.move(root / "shop/landing", tmp_path / "landing")
    shutil.copytree(
        tmp_path / "landing",
        root / "shop/landing",
        copy_function=shutil.copy2 if with_times else shutil.copyfile,
    )
    assert fed.run() is None
    replaced = root / "shop/landing/orders/2.csv"
    replaced.write_text("9   ")
    fed.run()
    assert fed.rows() == [1, 2, 9]


def test_what_was_committed_after_a_backup_and_taken_up_again_is_not_read_again(
    kept: Kept, tmp_path: Path
) -> None:
    fed = Fed(kept)
    fed.land()
    fed.run()
    made = kept.lake.backup(str(tmp_path / "b.zip"))
    fed.land()
    fed.run()
    fed.land()
    kept.lake.restore(made.path, force=True)
    assert (fed.rows(), fed.waits()) == ([1], {2, 3})
    kept.lake.restore(made.path, force=True, newest=True)
    assert (fed.rows(), fed.waits()) == ([1, 2], {3})
    fed.run()
    assert fed.rows() == [1, 2, 3]
    with kept.lake.stores.database.writing() as connection:
        for table in ("iceberg_tables", "lakebed_ledger", "lakebed_publications"):
            connection.exec_driver_sql(f"delete from {table}")
    kept.lake.rebuild_catalog()
    assert (fed.rows(), fed.run(), fed.rows()) == ([1, 2, 3], None, [1, 2, 3])


def test_a_restore_with_newest_follows_rollbacks_since_the_backup(
    kept: Kept, tmp_path: Path
) -> None:
    fed, points = Fed(kept), []
    for _ in range(2):
        fed.land()
        points.append(fed.run())
    first, second = points
    assert first
    assert second
    both = kept.lake.backup(str(tmp_path / "both.zip"))
    kept.lake.tables.rollback(fed.table, first.id, files="requeue")
    one = kept.lake.backup(str(tmp_path / "one.zip"))
    kept.lake.restore(both.path, force=True, newest=True)
    assert (fed.rows(), fed.waits(), fed.states()) == ([1], {2}, {1: "taken"})
    kept.lake.tables.rollback(fed.table, second.id)
    kept.lake.restore(one.path, force=True, newest=True)
    assert (fed.rows(), fed.waits(), fed.states()) == ([1, 2], set(), {1: "taken", 2: "taken"})


@pytest.mark.parametrize(
    ("archive", "strategy"),
    [(False, "append_only"), (True, "append_only"), (False, "full_refresh")],
)
def test_after_any_rollbacks_the_rows_are_those_of_the_files_that_count(
    kept: Kept, archive: bool, strategy: str
) -> None:
    seed = random.randrange(10**9)
    print("seed", seed)
    Walk(Fed(kept, archive=archive, strategy=strategy), random.Random(seed)).go(10 * SCALE)


class Walk:
    """Steps at random, and what must have become of each file, kept in plain sets."""

    def __init__(self, fed: Fed, chance: random.Random) -> None:
        self.fed, self.chance = fed, chance
        self.visible: frozenset[int] = frozenset()
        self.waiting: frozenset[int] = frozenset()
        self.held: frozenset[int] = frozenset()
        self.at: dict[int, frozenset[int]] = {}

    def go(self, steps: int) -> None:
        self.run()
        for _ in range(steps):
            step = self.chance.choice(
                [self.run, self.run, self.refresh, self.roll, self.roll, self.land]
            )
            step()
            assert self.fed.rows() == sorted(self.visible), step.__name__
            states = self.fed.states()
            assert {n for n in states if states[n] == "held"} == self.held, step.__name__
            assert self.fed.waits() == self.waiting, step.__name__

    def land(self) -> None:
        self.fed.land()
        self.waiting |= {self.fed.landed}

    def run(self) -> None:
        if not self.waiting:
            self.land()
        self.read(self.visible | self.waiting, full_refresh=False)

    def refresh(self) -> None:
        self.read(self.visible | self.waiting, full_refresh=True)

    def read(self, visible: frozenset[int], *, full_refresh: bool) -> None:
        head = self.fed.run(full_refresh=full_refresh)
        assert head
        self.visible, self.waiting = visible, frozenset()
        self.at[head.id] = visible

    def roll(self) -> None:
        lake, table = self.fed.kept.lake, self.fed.table
        to = self.chance.choice(
            sorted(published_snapshots(lake.tables.describe(table)) & self.at.keys())
        )
        requeue = self.chance.random() < 0.5
        lake.tables.rollback(table, to, files="requeue" if requeue else "exclude")
        gone = self.visible - self.at[to]
        self.visible = self.at[to]
        self.waiting = (self.waiting | (gone if requeue else frozenset())) - self.visible
        self.held = (self.held | (frozenset() if requeue else gone)) - self.visible


@pytest.mark.s3
@pytest.mark.postgres
@pytest.mark.parametrize("size", [10, 33 * 1024 * 1024], ids=["small", "copied by the server"])
def test_files_of_a_bucket_come_back_from_the_archive_and_stay_held_there(
    on_server: Kept, size: int
) -> None:
    """Their etags change when they are archived: parts, and copies by the server."""
    fed = Fed(on_server, archive=True)
    fed.land()
    first = fed.run()
    assert first
    fed.land(padded=size)
    second = fed.run()
    assert second
    lake = on_server.lake
    lake.tables.rollback(fed.table, first.id, files="requeue")
    assert (fed.rows(), fed.waits()) == ([1], {2})
    lake.tables.rollback(fed.table, second.id, files="requeue")
    assert (fed.rows(), fed.waits()) == ([1, 2], set())
    assert fed.run() is None
    lake.tables.rollback(fed.table, first.id, files="exclude")
    assert fed.run(full_refresh=True)
    assert fed.rows() == [1]


@pytest.mark.s3
@pytest.mark.postgres
def test_a_file_that_came_to_a_bucket_in_parts_is_known_when_another_program_copied_it(
    on_server: Kept,
) -> None:
    fed, files = Fed(on_server), on_server.lake.stores.files
    path = fed.land(padded=12 * 1024 * 1024)
    assert fed.run()
    before, data = files.info(path), files.read(path)
    files.delete(path)
    assert files.create(path, data).etag != before.etag
    assert fed.run() is None
    files.write(path, b"2".ljust(len(data)))
    assert fed.run()
    assert fed.rows() == [1, 2]
