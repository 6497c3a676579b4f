"""Real runs, rollbacks with the files they took, compaction, expiry and orphan removal, in any
order: no row lost, none twice.
"""

import random
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from lakebed.tables import published_snapshots
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import SCALE
from tests.support.tables import protected

pytestmark = [pytest.mark.spark]

STEPS = 14
LATER = timedelta(days=8)
CONFIG = "merge_strategy: append_only\ncare: {compact_min_files: 2, compact_small_ratio: 0}\n"
QUERY = "SELECT CAST(id AS BIGINT) AS id FROM {{ landing_zone('orders') }}"


@dataclass
class Walk:
    """A table fed by files of one row each, and what must have become of each file."""

    shop: TestLake
    chance: random.Random
    landed: int = 0
    main: frozenset[int] = frozenset()
    waiting: frozenset[int] = frozenset()
    states: dict[int, frozenset[int]] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    reading: list[tuple[int, ExitStack]] = field(default_factory=list)

    def land(self) -> None:
        self.landed += 1
        self.shop.land("orders", f"{self.landed}.csv", f"id\n{self.landed}\n")
        self.waiting |= {self.landed}

    def run(self) -> None:
        if not self.waiting:
            self.land()
        self.shop.run_one("silver.orders")
        self.main, self.waiting = self.main | self.waiting, frozenset()

    def roll_back(self) -> None:
        to = self.chance.choice(
            sorted(published_snapshots(self.shop.lake.tables.describe("orders")))
        )
        requeue = self.chance.random() < 0.5
        self.shop.lake.tables.rollback("orders", to, files="requeue" if requeue else "exclude")
        undone = self.main - self.states[to]
        self.main = self.states[to]
        self.waiting = (self.waiting | (undone if requeue else frozenset())) - self.main

    def tag(self) -> None:
        at = self.chance.choice(
            sorted(published_snapshots(self.shop.lake.tables.describe("orders")))
        )
        self.tags[f"v{len(self.tags)}"] = at
        self.shop.lake.tables.tag("orders", f"v{len(self.tags) - 1}", at=at)

    def read(self) -> None:
        stack = ExitStack()
        at = self.chance.choice(
            sorted(published_snapshots(self.shop.lake.tables.describe("orders")))
        )
        stack.enter_context(protected(self.shop.lake, "orders", at=at, seconds=10**8))
        self.reading.append((at, stack))

    def compact(self) -> None:
        self.shop.lake.care(only=["compact_files"])

    def expire(self) -> None:
        self.shop.lake.care(only=["expire_snapshots"], now=datetime.now(UTC) + LATER)

    def remove_orphans(self) -> None:
        self.shop.lake.care(only=["remove_orphans"], now=datetime.now(UTC) + LATER)

    def check(self) -> None:
        metadata = self.shop.lake.tables.describe("orders")
        head = metadata.head()
        assert head
        self.states[head.id] = self.main
        table = self.shop.lake.iceberg.load_table(self.shop.table("silver.orders").parts)
        wanted = {head.id, *self.tags.values(), *(at for at, _ in self.reading)}
        for snapshot in wanted:
            found = table.scan(snapshot_id=snapshot).to_arrow()["id"].to_pylist()
            assert sorted(found) == sorted(self.states[snapshot])


@pytest.mark.parametrize("seed", range(SCALE))
def test_no_row_is_lost_and_none_comes_twice(shop: TestLake, seed: int) -> None:
    shop.pipeline(
        "silver.orders", QUERY, CONFIG + ("archive_landing_zones: true\n" if seed % 2 == 0 else "")
    )
    walk = Walk(shop, random.Random(seed))
    happenings = [
        walk.run, walk.run, walk.run, walk.roll_back, walk.roll_back, walk.tag, walk.read, walk.compact, walk.expire,
        walk.remove_orphans,
    ]  # fmt: skip
    for begin in (
        *[walk.run] * 5,
        walk.compact,
    ):  # five files are the least that Iceberg makes one of
        begin()
        walk.check()
    for _ in range(STEPS):
        walk.chance.choice(happenings)()
        walk.check()
    while walk.reading:
        walk.reading.pop()[1].close()
    for end in (walk.run, walk.expire, walk.remove_orphans):
        end()
        walk.check()
    actions = {entry.action for entry in shop.lake.care_history(limit=10_000)}
    assert {"compact_files", "expire_snapshots"} <= actions
