"""The plan is all that happens, observed at the ports and below them: in random lakes, every commit
to the catalog, every file that is written, moved or deleted, every lease and every job of Spark
belongs to a step of the plan that was shown.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import wraps
from random import Random
from typing import Any

import pytest

from lakebed.engines.spark import SparkCompute
from lakebed.errors import Unavailable
from lakebed.names import TableName
from lakebed.pipelines import RunListener, RunPlan, RunStep
from lakebed.pipelines.planning.steps import PublishBatch
from lakebed.presentation.run import run_label
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.lakes.source_lake import SourceLake
from tests.support.scale import rotated

pytestmark = pytest.mark.spark

CHANGES = {
    "catalog": ("commit", "amend", "rename", "drop", "restore", "register", "purge", "drop_view"),
    "files": ("write", "create", "replace", "delete", "clear", "move"),
    "leases": ("acquire",),
}
JOBS = ("execute", "rows", "create_table", "append", "overwrite", "replace_files", "arrow")
FAILING = ("create_table", "append", "overwrite")  # for once, in a random lake
# the build's own: the drafts that ran, what became of them, and what sessions leave as they close
OF_THE_BUILD = (".data/artifacts/", ".data/releases/", ".data/staging/")
NO_EFFECT = (".data/lake.db", ".data/logs/")  # pointers are compared; leases are seen at their port
ORDERS, KEPT, RANGED, INCOME = "bronze.orders", "silver.kept", "gold.ranged", "bronze.income"
OF_ZONE = "SELECT * FROM {{ landing_zone('orders') }}"
APPENDS = "merge_strategy: append_only\narchive_landing_zones: true\n"
AGAIN = "max_retries: 2\nretry_delay_seconds: 0\n"
LAYOUT = "layouts: [{name: by_day, partition_by: day}]\n"
SOURCE = (
    'source: "downloads/{table}_{year}_{set}.json"\npartitions: {keys: [{name: year, type: INTEGER}]}\n'
    "batch_partition_columns: [year]\nmax_retries: 1\nretry_delay_seconds: 0\ncare: {compact_min_files: 2}\n"
)
RANGE = (
    "SELECT id, DATE '2024-01-15' AS at FROM {{ ref('silver.kept') }} WHERE DATE '2024-01-15' >="
    " {{ batch_start }} AND DATE '2024-01-15' < {{ batch_end }}"
)
YEAR: dict[str, Any] = {"start": "2024-01-01", "end": "2024-03-01", "chunk": "month"}


class World:
    """What has come of all effects, whoever had them: the files of a lake, where its tables point,
    and how many jobs Spark has started.
    """

    def __init__(self, lake: TestLake) -> None:
        self._folder, self._catalog = lake.folder, lake.lake.stores.catalog
        self._spark = lake.lake.spark.sparkContext._jsc.sc()

    def seen(self) -> set[tuple[str, str]]:
        jobs = self._spark.dagScheduler().numTotalJobs()
        pointers = self._catalog.pointers().values()
        return {
            ("spark.job", str(jobs)),
            *(("catalog.pointer", f"{one.table} {one.location}") for one in pointers),
            *(("disk", path) for path in self._files() if not path.startswith(NO_EFFECT)),
        }

    def _files(self) -> Iterator[str]:
        for file in self._folder.rglob("*"):
            if file.is_file():
                yield file.relative_to(self._folder).as_posix()


@dataclass
class Ports:
    """What happens at the ports of a lake and below them, and during which step."""

    world: World
    before: set[tuple[str, str]] = field(default_factory=set)  # what had come of effects so far
    faults: int = 0  # how many jobs are to fail
    failed: int = 0  # how many have
    active: list[tuple[str, RunStep]] = field(default_factory=list)  # with the run's id
    steps: dict[str, list[str]] = field(default_factory=dict)  # kinds, by run
    strays: list[tuple[str, str]] = field(default_factory=list)  # outside of all steps
    jobs: Counter[str] = field(default_factory=Counter)

    def begin(self) -> None:
        """From now on it counts."""
        self.active.clear()
        self.steps.clear()
        self.strays.clear()
        self.jobs.clear()
        self.failed, self.before = 0, self.world.seen()

    def on_step(self, run_id: str, step: RunStep, when: str) -> None:
        self.look()
        if when == "before":  # the steps of other runs have ended, or failed
            self.active = [one for one in self.active if one[0] == run_id]
            self.active.append((run_id, step))
            self.steps.setdefault(run_id, []).append(step.kind)
            return
        started = [one for _, one in self.active]
        place = next((at for at, one in enumerate(started) if one is step), len(started))
        last = len(started) if isinstance(step, PublishBatch) else place + 1
        del self.active[place:last]

    def on_start(self, _: TableName) -> None:
        """The steps of other runs have ended, or failed."""
        self.look()
        self.active.clear()

    def look(self) -> None:
        """What has happened since the last look, whoever did it, belongs to an active step."""
        now = self.world.seen()
        for effect, subject in sorted(now ^ self.before):
            self.note(effect, subject)
        self.before = now

    def note(self, effect: str, subject: str) -> None:
        if not self.active:
            self.strays.append((effect, subject))

    def watch(self, port: Any, name: str) -> Any:
        return _Watched(port, name, self.note)

    def job(self, name: str, do: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(do)
        def noted(compute: Any, *given: Any, **options: Any) -> Any:
            self.note("job", f"{name} {given[:1]}")
            self.jobs[name] += 1
            if self.faults and name in FAILING:
                self.faults, self.failed = self.faults - 1, self.failed + 1
                raise Unavailable("the cluster does not respond.")
            return do(compute, *given, **options)

        return noted


class _Watched:
    """A port that tells of its changes."""

    def __init__(self, port: Any, name: str, note: Callable[[str, str], None]) -> None:
        self._port, self._name, self._note = port, name, note

    def __getattr__(self, verb: str) -> Any:
        found = getattr(self._port, verb)
        if verb not in CHANGES[self._name]:
            return found

        def noted(*given: Any, **options: Any) -> Any:
            self._note(f"{self._name}.{verb}", str(given[0]))
            return found(*given, **options)

        return noted


@pytest.fixture
def lake(tmp_path: Any, spark_home: Any) -> Iterator[SourceLake]:
    made = SourceLake(tmp_path / "lake", SOURCE)
    made.pipeline(ORDERS, OF_ZONE, APPENDS)
    made.pipeline(KEPT, "SELECT id FROM {{ ref('bronze.orders') }}", AGAIN)
    made.pipeline(RANGED, RANGE, "batch_column: at\n")
    (made.folder / "shop/landing/orders").mkdir(parents=True)
    made.put_values("CA1_2020_COUNTY", 1, 2)
    yield made
    made.lake.close()


def shown(plan: RunPlan) -> list[str]:
    """The kinds of all steps, in the order in which they are done."""
    by_first = {group.first: group.steps for group in plan.each}
    kinds: list[str] = []
    for step in plan.steps:
        kinds.append(step.kind)
        if isinstance(step, PublishBatch):
            own = by_first.get(step.batch.label, plan.each[-1].steps)
            kinds += [each.kind for each in own]
    return kinds


def observe(
    lake: TestLake, ports: Ports, failed: set[TableName], *names: str, **options: Any
) -> None:
    """Plan, run, and compare."""
    plans = {plan.table: plan for plan in lake.lake.plan(*names, **options)}
    ports.begin()
    listener = RunListener(on_step=ports.on_step, on_start=ports.on_start)
    records = lake.lake.run(*names, listener=listener, **options).records
    ports.look()
    done = {run_id: list(kinds) for run_id, kinds in ports.steps.items()}
    for record in records:
        plan = plans[record.table]
        own = done.pop(record.run_id, [])
        possible = {*shown(plan), *(step.kind for step in plan.otherwise)}
        assert set(own) <= possible, (record, own, possible)
        again = {"CheckFirst", "Rebase"} & set(own) or (record.batches and ports.failed)
        if record.state == "success" and not again:
            assert own == shown(plan), (record.table, own)
        assert (run_label(record) == "NOOP") <= (not own)
    assert not done or any(record.attempt > 1 for record in records), done
    healed = failed & {record.table for record in records}
    failed -= healed
    failed |= {record.table for record in records if record.state == "failed"}
    healed |= {record.table for record in records if ports.failed}
    _check_strays(ports, {str(record.table) for record in records}, may_undo=bool(healed | failed))
    if not any(plan.steps for plan in plans.values()):
        assert not ports.jobs, ports.jobs


def _check_strays(ports: Ports, tables: set[str], *, may_undo: bool) -> None:
    """Outside of steps there are the leases of the runs, and what undoes or heals a failed one."""
    for effect, subject in ports.strays:
        if effect == "leases.acquire":
            assert subject in tables, subject
        elif effect.startswith(("files.", "disk")):
            assert subject.startswith(OF_THE_BUILD) or may_undo, (effect, subject)
        else:
            assert may_undo, (effect, subject)
            assert effect in {"catalog.amend", "catalog.purge", "catalog.pointer"}, (
                effect,
                subject,
            )


def test_what_happens_outside_of_all_steps_is_noticed_whoever_does_it(lake: SourceLake) -> None:
    ports, spark = Ports(World(lake)), lake.lake.spark
    create = f"CREATE TABLE {lake.table(KEPT).spark} (id INT) USING iceberg"
    effects: list[Callable[[], Any]] = [
        lambda: spark.sql("SELECT 1 AS id").count(),
        lambda: spark.sql(create),
        lambda: (lake.folder / "shop/stray").write_text("x"),
    ]
    for effect in effects:
        ports.begin()
        ports.look()
        _check_strays(ports, set(), may_undo=False)
        effect()
        ports.look()
        with pytest.raises(AssertionError):
            _check_strays(ports, set(), may_undo=False)


@pytest.mark.parametrize("seed", rotated(range(6), 1))
def test_whatever_happens_at_the_ports_belongs_to_a_step_that_was_shown(
    seed: int, lake: SourceLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, failed = Random(seed), set[TableName]()
    ports = Ports(World(lake))
    for name in JOBS:
        monkeypatch.setattr(SparkCompute, name, ports.job(name, getattr(SparkCompute, name)))
    stores = lake.lake.stores
    _ = lake.lake.spark
    watched = replace(
        stores,
        **{name: ports.watch(getattr(stores, name), name) for name in CHANGES},
    )
    with lake.over(watched):
        for number in range(10):
            change(lake, random, number)
            ports.faults = random.random() < 0.2
            names: list[str] = random.choice([[ORDERS], [ORDERS, KEPT], [INCOME], [INCOME, ORDERS]])
            together = INCOME not in names and random.random() < 0.4
            observe(lake, ports, failed, *names, **({"together": True} if together else {}))
            if number % 4 == 3 and lake.table(KEPT) in lake.lake.stores.catalog.pointers():
                observe(lake, ports, failed, RANGED, **YEAR, force=random.random() < 0.5)


def change(lake: SourceLake, random: Random, number: int) -> None:
    """Something for the next run to find."""
    layout = LAYOUT if random.random() < 0.5 else ""
    lake.pipeline(ORDERS, OF_ZONE, APPENDS + layout)
    lake.configure(SOURCE + (LAYOUT.replace("by: day", "by: set") if random.random() < 0.5 else ""))
    fails = {"never": "SELECT * FROM {{ this }}"} if random.random() < 0.2 else {}
    gate = lake.folder / "shop/pipelines/silver/kept/tests/quality/never.sql"
    gate.unlink(missing_ok=True)
    lake.pipeline(KEPT, "SELECT id FROM {{ ref('bronze.orders') }}", gates=fails)
    match random.randrange(4):
        case 0:
            lake.land("orders", f"{number}.csv", f"id,day\n{number},d{number % 3}\n")
        case 1:
            lake.land("orders", f"{number}.csv", f"id,day\nbad,d\n{number},d\n")
        case 2:
            lake.put_values(f"CA1_{2020 + number % 3}_COUNTY", number)
        case 3 if lake.table(ORDERS) in lake.lake.stores.catalog.pointers():
            lake.lake.spark.sql(f"INSERT INTO {lake.table(ORDERS).spark} VALUES ({number}, 'x')")
