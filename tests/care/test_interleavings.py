"""Random interleavings of everything that changes tables, while readers hold old states: whatever
is kept reads as it was.

The oracle is plain Python: which rows each snapshot had when it was made.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lakebed
from lakebed.names import TableName, new_run_id
from lakebed.tables import published_snapshots
from tests.support.benches import RealBench, ids, sqlite_bench
from tests.support.scale import SCALE
from tests.support.tables import new_location, protected, publish_branch

STEPS = 60
Parts = tuple[str, ...]
ODD: list[Parts] = [
    ("shop", "plain"),
    ("shop", "bronze", "umsätze 2024"),
]  # names that only other engines give
MONTHS = timedelta(days=60)  # by then every dropped table is purged
LATER = timedelta(
    days=8
)  # by then everything superseded has expired, and every file is old enough to be an orphan


@dataclass
class Expected:
    """What a table's snapshots hold, and where its refs stand."""

    rows: dict[int, list[int]] = field(default_factory=dict)
    main: list[int] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)


@dataclass
class Walk:
    """A lake, and what it must hold."""

    bench: RealBench
    lake: lakebed.Lake
    chance: random.Random
    link: str  # another way to the lake's folder
    tables: dict[TableName, Expected] = field(default_factory=dict)
    dropped: dict[str, Expected] = field(default_factory=dict)
    held: list[tuple[str, int, list[int], ExitStack]] = field(default_factory=list)
    odd: dict[Parts, list[int]] = field(
        default_factory=dict
    )  # rows of tables that have no name of ours
    number: int = 0
    off: float = 0.0  # by how many seconds this machine's clock is wrong

    def fresh(self) -> int:
        self.number += 1
        return self.number

    def name(self) -> TableName:
        """Old names come again: that is when folders get mixed up."""
        return TableName("shop", "silver", f"t{self.chance.randrange(6)}")

    def any(self) -> TableName | None:
        return self.chance.choice(sorted(self.tables)) if self.tables else None

    def note(self, table: TableName) -> None:
        """Write down what `main` holds now."""
        expected, head = self.tables[table], self.lake.tables.describe(table).head()
        assert head
        expected.rows[head.id] = list(expected.main)

    def point(self, table: TableName) -> int:
        """A state that readers saw.

        PyIceberg's overwrite passes through another, which is empty.
        """
        stood = published_snapshots(self.lake.tables.describe(table))
        return self.chance.choice(
            [snapshot for snapshot in self.tables[table].rows if snapshot in stood]
        )

    # -- what may happen

    def make(self) -> None:
        table = self.name()
        if table in self.tables:
            return
        place = new_location(self.lake, table)
        assert place
        self._create(table.parts, place)
        self.tables[table] = Expected()
        self._run(table)

    def _create(self, parts: Parts, place: str) -> None:
        """An empty table at a place, which may be spelt in several ways, and lead through
        a link.
        """
        from pyiceberg.schema import Schema
        from pyiceberg.types import LongType, NestedField

        spelt = self.chance.choice(
            [
                place,
                place.replace("file:///", "file:/"),
                place.replace(str(self.lake.root), self.link),
            ]
        )
        self.bench.iceberg.create_namespace_if_not_exists(parts[:-1])
        self.bench.iceberg.create_table(
            parts, Schema(NestedField(1, "id", LongType())), location=spelt
        )

    def run(self) -> None:
        if table := self.any():
            self._run(table)

    def _run(self, table: TableName) -> None:
        row, run_id = self.fresh(), new_run_id()
        with self.lake.tables.lease(table) as held:
            self.bench.write(table, [row], branch=f"run_{run_id}")
            publish_branch(self.lake, [table], branch=f"run_{run_id}", run_id=run_id, held=[held])
        self.tables[table].main.append(row)
        self.note(table)

    def fail(self) -> None:
        if table := self.any():
            self.bench.write(table, [self.fresh()], branch=f"run_{new_run_id()}")

    def rewrite(self) -> None:
        """As compaction does: other files, the same rows."""
        if table := self.any():
            self.bench.iceberg.load_table(table.parts).overwrite(ids(self.tables[table].main))
            self.note(table)

    def roll_back(self) -> None:
        if table := self.any():
            to = self.point(table)
            self.lake.tables.rollback(table, to)
            self.tables[table].main = list(self.tables[table].rows[to])

    def tag(self) -> None:
        if table := self.any():
            at = self.point(table)
            name = f"v{self.fresh()}"
            self.lake.tables.tag(table, name, at=at)
            self.tables[table].tags[name] = at

    def untag(self) -> None:
        if (table := self.any()) and self.tables[table].tags:
            name = self.chance.choice(sorted(self.tables[table].tags))
            self.lake.tables.untag(table, name)
            del self.tables[table].tags[name]

    def clone(self) -> None:
        table, to = self.any(), self.name()
        if table and to not in self.tables:
            self.lake.tables.clone(table, to)
            head = self.lake.tables.describe(to).head()
            assert head
            main = list(self.tables[table].main)
            self.tables[to] = Expected({head.id: main}, list(main))

    def rename(self) -> None:
        table, to = self.any(), self.name()
        if table and to not in self.tables:
            self.lake.tables.rename(table, to)
            self.tables[to] = self.tables.pop(table)

    # -- what others do, who know nothing of Lakebed

    def _made_elsewhere(self, table: TableName, place: str) -> None:
        self._create(table.parts, place)
        self.tables[table] = Expected()
        self._run(table)

    def rename_and_make_anew(self) -> None:
        """As plain Spark does it: the new table lies where the renamed one has its files."""
        table, to = self.any(), self.name()
        if table and to not in self.tables:
            place = self.lake.tables.describe(table).location
            self.bench.iceberg.rename_table(table.parts, to.parts)
            self.tables[to] = self.tables.pop(table)
            self._made_elsewhere(table, place)

    def make_inside(self) -> None:
        """In the folder of another table, or so that others lie in its own."""
        other, table = self.any(), self.name()
        if other and table not in self.tables:
            inner, outer = (
                f"{self.lake.tables.describe(other).location}/inner{self.fresh()}",
                self.lake.root.at("shop/warehouse/silver"),
            )
            self._made_elsewhere(table, self.chance.choice([inner, outer]))

    def write_odd(self) -> None:
        parts = self.chance.choice(ODD)
        if parts not in self.odd:
            self._create(parts, self.lake.root.at(f"shop/warehouse/bronze/odd{self.fresh()}"))
            self.odd[parts] = []
        row = self.fresh()
        self.bench.iceberg.load_table(parts).append(ids([row]))
        self.odd[parts].append(row)

    def rename_to_odd(self) -> None:
        table, parts = self.any(), self.chance.choice(ODD)
        if table and parts not in self.odd:
            self.bench.iceberg.create_namespace_if_not_exists(parts[:-1])
            self.bench.iceberg.rename_table(table.parts, parts)
            self.odd[parts] = self.tables.pop(table).main

    def take_up_files(self) -> None:
        """`add_files`: rows of one table become rows of another, and the files stay where
        they are.
        """
        source, target = self.any(), self.any()
        if not source or not target or source == target:
            return
        files = (
            self.bench.iceberg.load_table(source.parts)
            .inspect.data_files()["file_path"]
            .to_pylist()
        )
        to: Parts = self.chance.choice([target.parts, *self.odd])
        if len(files) > len(set(files)):
            return  # taken up twice already; PyIceberg refuses to hand such a list on
        self.bench.iceberg.load_table(to).add_files(files, check_duplicate_files=False)
        if to == target.parts:
            self.tables[target].main += self.tables[source].main
            self.note(target)
        else:
            self.odd[to] += self.tables[source].main

    def set_the_clock(self) -> None:
        self.off = self.chance.choice([-100_000.0, -60.0, 0.0, 60.0, 100_000.0])

    # -- what goes, and what comes back

    def drop(self) -> None:
        if table := self.any():
            self.dropped[self.lake.tables.drop(table).uuid] = self.tables.pop(table)

    def restore(self) -> None:
        to = self.name()
        if self.dropped and to not in self.tables:
            uuid = self.chance.choice(
                list(self.dropped)
            )  # as they were dropped: a seed tells the same story every time
            self.lake.tables.restore(uuid, to=to)
            self.tables[to] = self.dropped.pop(uuid)

    def begin_reading(self) -> None:
        if table := self.any():
            stack = ExitStack()
            point = stack.enter_context(
                protected(self.lake, table, at=self.point(table), seconds=10**8)
            )
            pointer = self.lake.stores.catalog.pointers([table])[table]
            self.held.append((pointer.location, point.id, self.tables[table].rows[point.id], stack))

    def end_reading(self) -> None:
        if self.held:
            self.held.pop(self.chance.randrange(len(self.held)))[-1].close()

    def later(self, *, by: timedelta = LATER) -> datetime:
        return datetime.now(UTC) + by + timedelta(seconds=self.off)

    def expire(self) -> None:
        self.lake.care(now=self.later())

    def remove_orphans(self) -> None:
        self.lake.care(now=self.later(), orphans=True)

    def purge(self) -> None:
        self.lake.care(now=self.later(by=MONTHS), only=["purge_dropped"])
        left = {
            gone.uuid for gone in self.lake.stores.catalog.dropped()
        }  # those of which somebody reads a state
        self.dropped = {uuid: expected for uuid, expected in self.dropped.items() if uuid in left}

    def end(self) -> None:
        """Whatever happened so far, there is a state to expire and a dead branch to remove now."""
        while not self.tables:
            self.make()
        self.rewrite()
        self.fail()
        self.remove_orphans()

    # -- the oracle

    def check(self) -> None:
        visible = {table for table in self.lake.stores.catalog.pointers() if not table.hidden}
        assert visible == set(self.tables)
        for table, expected in self.tables.items():
            assert self.bench.rows(table) == sorted(expected.main), table
            metadata = self.lake.tables.describe(table)
            for tag, snapshot in expected.tags.items():
                assert metadata.refs[tag].snapshot == snapshot
                assert self.bench.rows(table, tag) == sorted(expected.rows[snapshot])
        for parts, rows in self.odd.items():
            assert sorted(
                self.bench.iceberg.load_table(parts).scan().to_arrow()["id"].to_pylist()
            ) == sorted(rows), parts
        for location, snapshot, rows, _ in self.held:
            assert read_at(location, snapshot) == sorted(
                rows
            )  # from the very metadata file that the reader saw

    def check_every_snapshot(self) -> None:
        for table, expected in self.tables.items():
            location = self.lake.stores.catalog.pointers([table])[table].location
            for snapshot in set(self.lake.tables.describe(table).snapshots) & set(expected.rows):
                assert read_at(location, snapshot) == sorted(expected.rows[snapshot])


def read_at(location: str, snapshot: int) -> list[int]:
    from pyiceberg.table import StaticTable

    found: list[int] = (
        StaticTable.from_metadata(location).scan(snapshot_id=snapshot).to_arrow()["id"].to_pylist()
    )
    return sorted(found)


@pytest.fixture
def walk(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Walk]:
    lakebed.create(tmp_path / "lake", environment={})
    bench = sqlite_bench(tmp_path / "lake")
    with lakebed.open(tmp_path / "lake", environment={}) as lake:
        (tmp_path / "link").symlink_to(tmp_path / "lake")
        made = Walk(bench, lake, random.Random(request.param), str(tmp_path / "link"))
        right = time.time
        monkeypatch.setattr(time, "time", lambda: right() + made.off)
        yield made
        for *_, stack in made.held:
            stack.close()
    bench.close()


@pytest.mark.parametrize("walk", range(3 * SCALE), indirect=True)
def test_whatever_is_kept_reads_as_it_was(walk: Walk) -> None:
    happenings: list[Callable[[], None]] = [
        walk.make, walk.run, walk.run, walk.fail, walk.rewrite, walk.roll_back, walk.roll_back, walk.tag, walk.untag, walk.clone,
        walk.rename, walk.drop, walk.restore, walk.begin_reading, walk.end_reading, walk.expire, walk.expire, walk.remove_orphans,
        walk.purge, walk.rename_and_make_anew, walk.make_inside, walk.write_odd, walk.rename_to_odd, walk.take_up_files,
        walk.take_up_files, walk.set_the_clock,
    ]  # fmt: skip
    walk.make()
    told = []
    for _ in range(STEPS):
        happening = walk.chance.choice(happenings)
        told.append(happening.__name__)
        happening()
        walk.check()
    walk.end()
    for uuid in sorted(walk.dropped):  # every one of them can be had back
        to = TableName("shop", "gold", f"back{walk.fresh()}")
        walk.lake.tables.restore(uuid, to=to)
        walk.tables[to] = walk.dropped.pop(uuid)
    walk.check()
    walk.check_every_snapshot()
    done = {entry.action for entry in walk.lake.care_history(limit=10_000)}
    assert {"expire_snapshots", "remove_branches"} <= done, told
