"""A follower that is killed again and again, while tables change in every way: it always ends in
step with them, and what it relies on loses no file.

The oracle is plain Python: which rows each table has, and which files each snapshot needs.
"""

import random
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lakebed
from lakebed.names import TableName, new_run_id
from lakebed.tables import Follower, published_snapshots
from tests.support.benches import RealBench, ids
from tests.support.lakes.kept_lake import Kept
from tests.support.mirror import Copies, Mirror, follow
from tests.support.scale import SCALE, SEED, in_turn
from tests.support.tables import publish_branch
from tests.support.workers import killed, started

ROUNDS, STEPS = 4, 6
DEATHS = 14  # more points than most looks have: some of its lives go on
EXPIRED = timedelta(days=8)  # by then everything superseded has expired
PURGED = timedelta(days=60)  # by then every dropped table is purged
FORGOTTEN = timedelta(days=400)  # by then every event is purged


class Death(BaseException):
    """The follower dies here."""


@dataclass
class Table:
    """What a table has: its rows, and the rows that readers could go back to."""

    rows: list[int] = field(default_factory=list)
    former: dict[int, list[int]] = field(default_factory=dict)  # by snapshot


@dataclass
class Walk:
    """A lake, what it must hold, and the follower's file."""

    lake: lakebed.Lake
    bench: RealBench
    chance: random.Random
    file: Path
    tables: dict[TableName, Table] = field(default_factory=dict)
    dropped: dict[str, Table] = field(default_factory=dict)
    files: dict[int, set[str]] = field(default_factory=dict)  # that a snapshot needs
    number: int = 0

    # -- what may happen to tables

    def make(self) -> None:
        table = self._name()
        if table not in self.tables:
            self.bench.iceberg.create_namespace_if_not_exists(table.parts[:-1])
            place = f"{table.folder}_{self._fresh()}"  # a folder is used once
            self.bench.iceberg.create_table(
                table.parts, ids([]).schema, location=self.lake.root.at(place)
            )
            self.tables[table] = Table()
            self._foreign_append(table)

    def publish(self) -> None:
        if table := self._any():
            row, run_id = self._fresh(), new_run_id()
            self.bench.write(table, [row], branch=f"run_{run_id}")
            publish_branch(self.lake, [table], branch=f"run_{run_id}", run_id=run_id)
            self._note(table, [*self.tables[table].rows, row])

    def append_elsewhere(self) -> None:
        if table := self._any():
            self._foreign_append(table)

    def overwrite_elsewhere(self) -> None:
        if table := self._any():
            row = self._fresh()
            self.bench.iceberg.load_table(table.parts).overwrite(ids([row]))
            self._note(table, [row])

    def roll_back(self) -> None:
        if table := self._any():
            stood = published_snapshots(self.lake.tables.describe(table))
            to = self.chance.choice([one for one in self.tables[table].former if one in stood])
            self.lake.tables.rollback(table, to)
            self.tables[table].rows = self.tables[table].former[to]

    def tag(self) -> None:
        if table := self._any():
            self.lake.tables.tag(table, f"v{self._fresh()}")

    def rename(self) -> None:
        table, to = self._any(), self._name()
        if table and to not in self.tables:
            self.renamed(table, to)

    def swap_names(self) -> None:
        if len(self.tables) > 1:
            one, other = self.chance.sample(sorted(self.tables), 2)
            between = TableName("shop", "gold", "between")
            for table, to in ((one, between), (other, one), (between, other)):
                self.renamed(table, to)

    def clone(self) -> None:
        table, to = self._any(), self._name()
        if table and to not in self.tables:
            self.lake.tables.clone(table, to)
            self.tables[to] = Table()
            self._note(to, self.tables[table].rows)

    def drop(self) -> None:
        if table := self._any():
            self.dropped[self.lake.tables.drop(table).uuid] = self.tables.pop(table)

    def restore(self) -> None:
        to = self._name()
        if self.dropped and to not in self.tables:
            uuid = self.chance.choice(list(self.dropped))
            self.lake.tables.restore(uuid, to=to)
            self.tables[to] = self.dropped.pop(uuid)

    def expire(self) -> None:
        self.lake.care(now=datetime.now(UTC) + EXPIRED, orphans=True)

    def purge(self) -> None:
        self.lake.care(now=datetime.now(UTC) + PURGED, only=["purge_dropped"])
        left = {gone.uuid for gone in self.lake.stores.catalog.dropped()}
        self.dropped = {uuid: table for uuid, table in self.dropped.items() if uuid in left}

    def purge_events(self) -> None:
        self.lake.care(now=datetime.now(UTC) + FORGOTTEN, only=["purge_events"])

    def any_change(self) -> None:
        often = [self.publish, self.append_elsewhere, self.overwrite_elsewhere, self.expire]
        seldom = [
            self.make, self.roll_back, self.tag, self.rename, self.swap_names, self.clone,
            self.drop, self.restore, self.purge, self.purge_events,
        ]  # fmt: skip
        while not self.tables:
            self.make()
        self.chance.choice([*often, *often, *seldom])()
        self.check_files()

    def _fresh(self) -> int:
        self.number += 1
        return self.number

    def _name(self) -> TableName:
        return TableName("shop", "silver", f"t{self.chance.randrange(4)}")

    def _any(self) -> TableName | None:
        return self.chance.choice(sorted(self.tables)) if self.tables else None

    def renamed(self, table: TableName, to: TableName) -> None:
        self.lake.tables.rename(table, to)
        self.tables[to] = self.tables.pop(table)

    def _foreign_append(self, table: TableName) -> None:
        row = self._fresh()
        self.bench.write(table, [row])
        self._note(table, [*self.tables[table].rows, row])

    def _note(self, table: TableName, rows: list[int]) -> None:
        """What readers see now, and the files that it needs."""
        stores = self.lake.stores
        pointer = stores.catalog.pointers([table])[table]
        head = stores.catalog.metadata([pointer])[table].head()
        assert head
        self.tables[table].rows = self.tables[table].former[head.id] = rows
        needed = stores.reach.files(pointer, snapshots=(head.id,))
        paths = {stores.files.path_of(file.location) or "" for file in needed}
        self.files.setdefault(head.id, {path for path in paths if ".metadata.json" not in path})

    # -- the follower

    def live_and_die(self) -> None:
        """One look, which may end at any of its points."""
        left = self.chance.randrange(DEATHS)

        def reached(_: str) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Death

        with suppress(Death):
            Mirror(self.bench, self.file, reached=reached).step()
        self.check_files()

    def catch_up(self) -> None:
        """Undisturbed, it ends in step, and protects no more than it relies on."""
        mirror = Mirror(self.bench, self.file)
        while mirror.step():
            self.check_files()
        copies = Copies.load(self.file)
        assert copies.tables() == {name: sorted(one.rows) for name, one in self.tables.items()}
        gone = {state.uuid for state in copies.states if state.dropped}
        assert gone <= {one.uuid for one in self.lake.stores.catalog.dropped()}
        protected = {one.snapshot for one in self.lake.stores.events.protected()}
        assert protected == {state.snapshot for state in copies.held}

    # -- the oracle

    def there(self) -> set[str]:
        return {info.path for info in self.lake.stores.files.list("shop/warehouse")}

    def check_files(self) -> None:
        there = self.there()
        for state in Copies.load(self.file).held:
            if state.snapshot in self.files:
                assert self.files[state.snapshot] <= there, state


SQLITE, POSTGRES = "SQLite", "PostgreSQL"
MARKS = (pytest.mark.s3, pytest.mark.postgres)


@pytest.fixture
def any_kept(request: pytest.FixtureRequest) -> Kept:
    kept: Kept = request.getfixturevalue("kept" if request.param == SQLITE else "on_server")
    return kept


@pytest.fixture
def walk(any_kept: Kept, tmp_path: Path, seed: int) -> Walk:
    return Walk(any_kept.lake, any_kept.bench, random.Random(seed), tmp_path / "copies.json")


@pytest.mark.parametrize(
    ("any_kept", "seed"),
    [
        *((SQLITE, seed) for seed in range(2 * SCALE)),
        pytest.param(POSTGRES, 0, marks=[*MARKS, in_turn(0, of=2)]),
    ],
    indirect=["any_kept"],
)
def test_a_follower_that_dies_at_any_point_ends_in_step_and_loses_no_file(walk: Walk) -> None:
    walk.make()
    walk.catch_up()
    for _ in range(ROUNDS):
        for _ in range(STEPS):
            for _ in range(walk.chance.randrange(1, 4)):  # it is not always there
                walk.any_change()
            walk.live_and_die()
        walk.catch_up()


@pytest.mark.parametrize(
    ("any_kept", "seed"),
    [(SQLITE, SEED), pytest.param(POSTGRES, SEED, marks=[*MARKS, in_turn(1, of=2)])],
    indirect=["any_kept"],
)
def test_a_follower_that_is_killed_while_tables_change_ends_in_step_and_loses_no_file(
    walk: Walk,
) -> None:
    walk.make()
    for _ in range(ROUNDS):
        process, pipe = started(follow, walk.bench, walk.file)
        for _ in range(walk.chance.randrange(1, STEPS)):
            walk.any_change()
        killed(process)
        with suppress(EOFError):  # it had nothing to say
            pytest.fail(pipe.recv())
        walk.any_change()
        walk.catch_up()


@pytest.mark.parametrize(
    ("any_kept", "seed"),
    [(SQLITE, 0), pytest.param(POSTGRES, 0, marks=MARKS)],
    indirect=["any_kept"],
)
def test_what_a_dead_follower_relies_on_outlives_expiry_renames_and_the_drop_of_its_table(
    walk: Walk,
) -> None:
    walk.make()
    (table,) = walk.tables
    walk.catch_up()
    held = Copies.load(walk.file).held
    for change in (walk.overwrite_elsewhere, walk.publish, walk.expire, walk.expire):
        change()
        walk.check_files()
    assert held[0].snapshot in walk.lake.tables.describe(table).snapshots
    walk.renamed(table, TableName("shop", "silver", "elsewhere"))
    for change in (walk.publish, walk.expire, walk.drop, walk.purge, walk.expire):
        change()
        walk.check_files()
    assert [gone.uuid for gone in walk.lake.stores.catalog.dropped()] == [held[0].uuid]
    walk.catch_up()
    walk.purge()
    walk.catch_up()
    assert (Copies.load(walk.file).states, walk.lake.stores.catalog.dropped()) == ([], ())


@pytest.mark.parametrize(("any_kept", "seed"), [(SQLITE, 0)], indirect=["any_kept"])
def test_a_snapshot_that_is_protected_while_it_expires_keeps_its_files(
    walk: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk.make()
    stores = walk.lake.stores
    follower = Follower(
        "mirror",
        catalog=stores.catalog,
        events=stores.events,
        records=stores.records,
        leases=stores.leases,
    )
    (state,) = follower.look(()).states
    assert state.snapshot
    walk.overwrite_elsewhere()
    expire = stores.catalog.amend

    def amend(*arguments: Any, **options: Any) -> None:
        assert follower.protect(state)  # in the last moment
        expire(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(stores.catalog, "amend", amend)
        walk.expire()
    assert state.snapshot not in walk.lake.tables.describe(state.table).snapshots
    walk.expire()
    assert walk.files[state.snapshot] <= walk.there()
    follower.release(but=())
    walk.expire()
    assert not walk.files[state.snapshot] <= walk.there()
