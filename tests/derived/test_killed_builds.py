"""kill -9 at every step of a build, and builders that meet: what a layout says is fresh is right all
the time, and the next build gives the right rows.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from lakebed.app import Lake, create_lake, open_lake
from lakebed.derived.building.look import look_at_batches, look_at_source
from lakebed.derived.building.run import BuildOptions, build_layouts
from lakebed.derived.building.services import LayoutServices, layout_session
from lakebed.derived.building.steps import LayoutListener, LayoutStep
from lakebed.derived.building.write import LayoutWriter
from lakebed.derived.identity import Layout
from lakebed.names import TableName
from lakebed.ports import Lease, Leases
from tests.support.compaction import compact
from tests.support.kills import let_die
from tests.support.lakes.layout_lake import LayoutTable
from tests.support.lakes.query_lakes import bench_of
from tests.support.scale import rotated
from tests.support.tables import snapshots_of

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:Parquet writer option"),
    pytest.mark.filterwarnings("ignore:Delete operation did not match"),
]
ROWS = ((2019, "a", 1), (2019, "b", 2), (2020, "a", 3), (2021, "c", 4))
# a number: before that effect of the step
CASES = [
    *(("add", str(number)) for number in (3, 6, 9)),
    *(("build batches", when) for when in ("before", "4", "after")),
    *(("stamp", when) for when in ("before", "3", "5", "after")),
    *(("remove batches", when) for when in ("before", "after")),
    *(("clear layout", when) for when in ("before", "3", "after")),
    *(("add columns", when) for when in ("before", "1", "after")),
    *(("create layout", when) for when in ("before", "2", "5", "8", "11", "after")),
]
AT_A_TIME = 2


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("killed") / "lake"
    settings = {"spark": {"quick": True}, "lease": {"limit_seconds": 1.0}}
    create_lake(folder, settings=settings)
    with open_lake(folder) as opened:
        yield opened


def prepare(income: LayoutTable, action: str) -> None:
    """Makes the table such that its next build has a step of this kind."""
    if action == "add":
        return
    income.add("geo")
    if action == "build batches":
        return
    income.build()
    match action:
        case "stamp":
            income.insert((2020, "d", 5))
        case "remove batches":
            income.sql(f"DELETE FROM {income.table.spark} WHERE year = 2021")
        case "clear layout":
            income.append_elsewhere(income.layout.table, (1999, "stranger", 0))
        case "add columns":
            income.sql(f"ALTER TABLE {income.table.spark} ADD COLUMN note STRING")
        case "create layout":
            income.sql(f"ALTER TABLE {income.table.spark} RENAME COLUMN v TO w")


@pytest.mark.parametrize(("action", "when"), rotated(CASES, AT_A_TIME))
def test_a_killed_build_leaves_nothing_wrong_and_the_next_one_completes_it(
    lake: Lake, action: str, when: str
) -> None:
    income = LayoutTable(lake, f"{action.replace(' ', '_')}_{when}", *ROWS)
    prepare(income, action)
    given = [json.dumps({"partition_by": "geo"})] if action == "add" else []
    let_die("killed_layouts", str(lake.root.folder), str(income.table), when, action, *given)

    checks = [one for check in lake.layouts.verify(income.table) for one in check.batches]
    assert not any(check.differs for check in checks if check.fresh)
    if action == "add" and not income.layouts:
        income.add("geo")
    assert income.build().complete
    assert income.state().state == "fresh"
    income.check()
    assert lake.fsck(repair=True, sample=0).problems == 0
    kinds = {found.kind for found in lake.fsck(sample=0).findings}
    assert kinds <= {"table without pipeline", "unreached files"}
    mine = income.metadata.uuid
    hidden = [table for table in lake.stores.catalog.pointers() if table.derived]
    found = lake.stores.catalog.metadata(lake.stores.catalog.pointers(hidden).values())
    assert sum(one.properties["lakebed.source-uuid"] == mine for one in found.values()) == 1


class OwnLeases:
    """Leases of batches that no other builder knows of."""

    def __init__(self, leases: Leases, me: str) -> None:
        self._leases, self._me = leases, me
        self.renew, self.release, self.holder = leases.renew, leases.release, leases.holder
        self.store_time = leases.store_time

    def acquire(self, name: str, *, holder: str, limit: float) -> Lease:
        own = f"{name} of {self._me}" if "#" in name else name
        return self._leases.acquire(own, holder=holder, limit=limit)


def test_two_builders_of_the_same_batches_build_them_once(lake: Lake) -> None:
    income = LayoutTable(lake, "twice", *ROWS)
    income.add("geo")
    both = Barrier(2, timeout=60)

    def meet(step: LayoutStep) -> None:
        if step.action == "build batches":
            both.wait()

    options = BuildOptions(listener=LayoutListener(on_start=meet))
    services = lake.layouts.services

    def build(one: LayoutServices) -> int:
        (done,) = build_layouts(one, income.table, options).builds
        assert not done.error, done.error
        return done.built

    with ThreadPoolExecutor(2) as pool:
        built = list(pool.map(build, (services, services)))
    assert sum(built) == 3
    assert income.build().complete
    income.check()

    # neither knows of the other: Iceberg lets one of them win, and the other looks again
    income.insert(*((year, "x", year) for year in (2019, 2020, 2021)))
    strangers = [
        replace(services, tables=replace(services.tables, ports=replace(lake.ports, leases=leases)))
        for leases in (OwnLeases(lake.stores.leases, me) for me in ("one", "other"))
    ]
    commits = income.commits
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(build, strangers))
    assert income.commits == commits + 1
    assert income.build().complete
    income.check()


def test_builders_of_different_batches_do_not_disturb_each_other(lake: Lake) -> None:
    income = LayoutTable(lake, "apart", *ROWS)
    income.add("geo")
    services, hidden = lake.layouts.services, income.layout.table
    source = look_at_source(services, income.table)
    assert source

    def build(number: int) -> int:
        with layout_session(services) as session:
            look = look_at_batches(services, session, source, income.layout)
            writer = LayoutWriter(services, session, source, hidden, look.keys)
            return writer.build([look.batches[number]]).built

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(build, range(3))) == [1, 1, 1]
    assert income.state().fresh == 3
    assert income.build().built == 0
    income.check()


def test_compaction_of_either_side_while_batches_are_written(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    income = LayoutTable(lake, "compacted", *ROWS)
    income.insert((2019, "a", 5))
    income.add("geo")
    income.build()
    income.insert((2019, "a", 6), (2020, "a", 7))
    bench, wrote, compacted = bench_of(lake), LayoutWriter._wrote, set[TableName]()

    def compact_first(self: LayoutWriter, layout: Layout, *given: Any, **options: Any) -> bool:
        for table in {income.table, layout.table} - compacted:  # the build has looked at both
            compact(bench, table)
            compacted.add(table)
        return wrote(self, layout, *given, **options)

    monkeypatch.setattr(LayoutWriter, "_wrote", compact_first)
    done = income.build()
    bench.close()
    assert (done.built, done.complete) == (2, True)
    assert [one.operation for one in snapshots_of(lake, income.table)].count("replace") == 1
    assert income.state().state == "fresh"
    income.check()
