"""A lake whose tables and layouts change at random, as their owners and others change them."""

import random
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakebed.app import Lake
from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.query.planning.plan import all_tables
from lakebed.requests import QueryRequest
from tests.support.compaction import compact
from tests.support.handmade_layouts import HandMadeLayout
from tests.support.lakes.query_lakes import SCHEMA, bench_of, make_lake, random_rows

ODD = "Odd näme €"
_SCHEMA = SCHEMA.append(pa.field(ODD, pa.string()))
_LAYOUTS: tuple[dict[str, Any], ...] = (
    {"name": "by_s", "partition_by": ["s"], "batch_by": ["day"]},
    {"name": "by_n", "partition_by": ["n"], "sort_by": ["id"], "batch_by": ["day", "flag"]},
    {"name": "by_odd", "partition_by": [ODD]},
)
_DAYS = 4


class FuzzedLake:
    """Two tables, `a` and `b`, that are partitioned by day and flag, and layouts of both."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.lake: Lake = make_lake(folder)
        self.bench = bench_of(self.lake)
        self.chance = random.Random(seed)
        self.bench.catalog.create_namespace("shop", "silver")
        self.names = {name: TableName("shop", "silver", name) for name in ("a", "b")}
        self.layouts: dict[str, list[HandMadeLayout]] = {}
        self.done: list[str] = []  # what has happened, for whoever looks for a failure
        for name in self.names:
            self._make(name)

    def _make(self, name: str) -> None:
        table = self.names[name]
        made = self.bench.iceberg.create_table(
            table.parts, _SCHEMA, location=self.bench.root.at(table.folder)
        )
        with made.update_spec() as update:
            update.add_identity("day").add_identity("flag")
        for _ in range(2):
            self.append(name)
        loaded = self.table(name)
        head = loaded.metadata.current_snapshot_id
        assert head is not None
        loaded.manage_snapshots().create_tag(head, "old").commit()
        self.layouts[name] = [
            HandMadeLayout(self.bench, table, **spec) for spec in self.chance.sample(_LAYOUTS, 2)
        ]
        for layout in self.layouts[name]:
            layout.build()

    def table(self, name: str) -> Any:
        return self.bench.iceberg.load_table(self.names[name].parts)

    def close(self) -> None:
        self.bench.close()
        self.lake.close()

    # -- what happens to tables

    def change(self) -> None:
        """Something that happens to a table or to a layout."""
        actions: list[Callable[[str], None]] = [
            self.append, self.append, self.delete, self.delete_day, self.roll_back, self.rename,
            self.build, self.build, self.build_some, self.build_some, self.taint, self.expire,
            self.expire_layout, self.widen, self.compact, self.compact_layout,
        ]  # fmt: skip
        action = self.chance.choice(actions)
        name = self.chance.choice(list(self.names))
        self.done.append(f"{action.__name__} {name}")
        with warnings.catch_warnings():  # PyIceberg warns of deletes that find nothing
            warnings.simplefilter("ignore")
            action(name)

    def append(self, name: str) -> None:
        days = self.chance.sample(range(_DAYS), 2)
        rows = pa.concat_tables(random_rows(self.chance, 12, around=day) for day in days)
        odd = [self.chance.choice(("", "x", "é", None)) for _ in range(rows.num_rows)]
        self.table(name).append(rows.append_column(_SCHEMA.field(ODD), pa.array(odd, pa.string())))

    def delete(self, name: str) -> None:
        self.table(name).delete(f"n = {self.chance.randrange(-2, 5)}")

    def delete_day(self, name: str) -> None:
        self.table(name).delete(self.chance.choice(("day is null", "day = '2026-01-02'")))

    def roll_back(self, name: str) -> None:
        known = self.lake.tables.history(self.names[name])
        points = [one.snapshot.id for one in known if one.snapshot]
        self._try(lambda: self.lake.tables.rollback(self.names[name], self.chance.choice(points)))

    def rename(self, name: str) -> None:
        other = "renamed" if self.names[name].name == name else ""
        target = TableName("shop", "silver", f"{name}_{other}" if other else name)
        self.names[name] = self.lake.tables.rename(self.names[name], target)
        for layout in self.layouts[name]:
            layout.source = self.names[name]

    def _layout(self, name: str) -> HandMadeLayout:
        """One to build; it is made again if the columns have changed."""
        place = self.chance.randrange(2)
        layout = self.layouts[name][place]
        if layout.iceberg.schema().column_names != self.table(name).schema().column_names:
            layout = self.layouts[name][place] = layout.again()
        return layout

    def build(self, name: str) -> None:
        self._layout(name).build()

    def build_some(self, name: str) -> None:
        layout = self._layout(name)
        layout.build(*self.chance.sample(layout.labels(), 1), covers=False)

    def taint(self, name: str) -> None:
        """Somebody writes into a layout; it is replaced by a new one the next time."""
        place = self.chance.randrange(2)
        layout = self.layouts[name][place]
        if layout.iceberg.metadata.current_snapshot_id is not None:
            layout.iceberg.delete("n = 1")
        if self.chance.random() < 0.7:
            self.layouts[name][place] = layout.again()

    def compact(self, name: str) -> None:
        compact(self.bench, self.names[name], self._some)

    def compact_layout(self, name: str) -> None:
        layout = self.chance.choice(self.layouts[name])
        if layout.iceberg.metadata.current_snapshot_id is not None:
            compact(self.bench, layout.table, self._some)

    def _some(self, files: list[str]) -> list[str]:
        return self.chance.sample(files, (len(files) + 1) // 2)

    def expire(self, name: str) -> None:
        self._expire(self.table(name))

    def expire_layout(self, name: str) -> None:
        self._expire(self.chance.choice(self.layouts[name]).iceberg)

    def _expire(self, table: Any) -> None:
        kept = {ref.snapshot_id for ref in table.metadata.refs.values()}
        gone = [one.snapshot_id for one in table.metadata.snapshots if one.snapshot_id not in kept]
        some = self.chance.sample(gone, min(2, len(gone)))
        if some:
            table.maintenance.expire_snapshots().by_ids(some).commit()

    def widen(self, name: str) -> None:
        """Another column, or one less: layouts have to be made again."""
        with self.table(name).update_schema() as update:
            if "more" in self.table(name).schema().column_names:
                update.delete_column("more")
            else:
                from pyiceberg.types import LongType

                update.add_column("more", LongType())
        self.layouts[name] = [layout.again() for layout in self.layouts[name]]

    def _try(self, do: Callable[[], object]) -> None:
        try:
            do()
        except LakebedError as error:  # a point may have expired
            self.done.append(str(error.what))

    # -- what is asked

    def spelt(self, query: str) -> str:
        """A query of a `QueryWriter` over the tables as they are named now."""
        a, b = self.names["a"], self.names["b"]
        return query.format(a=a, b=b, old=f"{a} AT (VERSION => 'old')")

    def forced(self, query: str) -> str:
        """The query, with a hint for a layout that one of its tables has."""
        names = {layout.spec.name for layouts in self.layouts.values() for layout in layouts}
        return f"/*+ use_layout({self.chance.choice(sorted(names))}) */ {query}"

    def compare(self, sql: str) -> bool:
        """Whether a layout is read; the answers with and without are then the same."""
        try:
            plan = self.lake.queries.plan(QueryRequest(sql))
        except LakebedError:  # not every random query makes sense, or names a layout of its tables
            return False
        if not any(table.layout for table in all_tables(plan.tables)):
            return False
        try:
            expected = self._answers(sql, layouts=False)
        except LakebedError:
            return False
        found = self._answers(sql, layouts=True)
        lost, more = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
        assert (lost, more) == (Counter(), Counter()), (sql, self.done)
        return True

    def _answers(self, sql: str, *, layouts: bool) -> list[str]:
        with self.lake.query(sql, layouts=layouts) as result:
            return sorted(map(str, result.fetchall()))
