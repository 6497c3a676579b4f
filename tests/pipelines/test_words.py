"""Plans in words."""

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from lakebed.batches.changes import DueBatch
from lakebed.batches.finding import FoundBatch
from lakebed.engines.files import FolderFiles
from lakebed.names import TableName, ZoneName
from lakebed.pipelines.planning import steps
from lakebed.pipelines.planning.pins import Batch, SourceBatch
from lakebed.pipelines.planning.plan import RunPlan
from lakebed.pipelines.planning.plan_text import plan_inputs, plan_strategy, step_text
from lakebed.pipelines.planning.steps import RunStep
from lakebed.ports import FileInfo, InputPin
from lakebed.quality import Gate
from lakebed.settings import Root
from lakebed.sql import read_change
from lakebed.tables import STRATEGIES, ArrangementChange, arrangement_of, plan_arrangement
from lakebed.tables.adopting.look import Adoption, FoundFolder

TABLE, ZONE = TableName("shop", "silver", "orders"), ZoneName("shop", "orders")
MERGE = STRATEGIES["incremental"].model_validate({"unique_key": ["id", "at"]})
FOLDER = FoundFolder(
    Adoption(TABLE, "/data/orders", False, 0, 0, 0, (), ()),
    FolderFiles(Path("/")),
    Root("file://"),
    path="data/orders",
    types=(),
    digest=0,
    _kept=BytesIO(),
)
READ = steps.Calculate(
    "shop/pipelines/silver/orders/pipeline.sql", (InputPin(TABLE, 7), InputPin(TABLE, None))
)


def files(count: int) -> tuple[FileInfo, ...]:
    return tuple(
        FileInfo(f"{ZONE.folder}/sub/{number}.csv", 1, "e", datetime.now(UTC))
        for number in range(count)
    )


SAID: list[tuple[RunStep, str]] = [
    (steps.OpenZone(ZONE, None, files(1)), "read 1 file of shop.orders: sub/0.csv"),
    (
        steps.OpenZone(ZONE, "*.csv", files(5)),
        "read 5 files of shop.orders that match '*.csv': sub/0.csv, sub/1.csv, sub/2.csv, …",
    ),
    (
        READ,
        (
            "run shop/pipelines/silver/orders/pipeline.sql over shop.silver.orders at 7,"
            " shop.silver.orders (no rows yet)"
        ),
    ),
    (
        steps.Replay(
            1,
            3,
            Batch({(ZONE, None): files(2)}, "0" * 32, datetime(2026, 1, 2, 3, 4, tzinfo=UTC)),
            TABLE,
            MERGE,
        ),
        "replay 1 of 3: 2 files of the run 0000000000000000 of 2026-01-02 03:04, by incremental",
    ),
    (
        steps.Replay(3, 3, Batch({(ZONE, None): files(1)}), TABLE, MERGE, (InputPin(TABLE, 7),)),
        "replay 3 of 3: 1 file still waiting, by incremental over shop.silver.orders at 7",
    ),
    (
        steps.ReadBatch(SourceBatch("year=2020", "", files(2))),
        "read 2 files of batch year=2020",
    ),
    (steps.ReadFolder(FOLDER), "read the Parquet files in /data/orders"),
    (steps.TakeFiles(TABLE, FOLDER), "make the files part of the table as they are"),
    (steps.Stage(TABLE), "compute the result once, into a hidden table"),
    (steps.CheckKeys(("id", "at"), None), "check the key id, at: never NULL"),
    (
        steps.CheckKeys(("id",), "at"),
        "check the key id: never NULL; of repeated keys the newest by at wins",
    ),
    (steps.PrepareSchema("append"), "compare columns: add new columns (append)"),
    (
        steps.PrepareSchema("fail", (("a", "b"), ("c", "d"))),
        (
            "compare columns: fail unless the result has the table's columns (fail); publishing"
            " renames a to b, c to d"
        ),
    ),
    (
        steps.EvolveArrangement(
            TABLE,
            plan_arrangement(arrangement_of(["c"], []), arrangement_of(["day(at)"], ["id desc"])),
        ),
        "no longer partition by c, partition by day(at), sort by id desc: new files only",
    ),
    (steps.EvolveArrangement(TABLE, ArrangementChange(sort=())), "no longer sort: new files only"),
    (steps.CreateHidden(TABLE), "create the table under a hidden name"),
    (steps.OpenBranch(TABLE, "run_1", 5), "open the branch run_1"),
    (
        steps.Write(TABLE, MERGE),
        "write by incremental: insert new keys and update existing ones (by id, at)",
    ),
    (steps.Write(TABLE, MERGE, replaces=True), "replace all rows"),
    (steps.Execute(TABLE, read_change("DELETE FROM orders")), "run the DELETE on the branch"),
    (steps.DropStage(TABLE), "remove the hidden table"),
    (
        steps.RunGate(Gate("known", "SELECT 1", "x.sql", description="all is known")),
        "run the gate known (blocks): all is known",
    ),
    (
        steps.RunGate(Gate("known", "SELECT 1", "x.sql", severity="warn")),
        "run the gate known (warns)",
    ),
    (
        steps.Rebase(TABLE),
        "put the run's files on top of what others have appended to shop.silver.orders",
    ),
    (
        steps.CheckFirst(TABLE),
        "take back what was written, and check all files before writing again",
    ),
    (steps.StartOver(TABLE, 3), "start over up to 3 times"),
    (steps.TryAgain(TABLE, 1), "try again once"),
    (
        steps.TakeCare(TABLE),
        "rewrite small files and expire old snapshots, as far as that is due by then",
    ),
    (
        steps.Publish(TABLE, "main"),
        "publish shop.silver.orders: main moves, and readers see the new rows",
    ),
    (
        steps.PublishBatch(
            TABLE,
            DueBatch(
                "year=2020",
                "new",
                FoundBatch("year=2020", (2020,), 1_001, 2_000, "", datetime.now(UTC)),
            ),
        ),
        "batch year=2020 (new): 1,001 files, 2.0 KiB",
    ),
    (
        steps.PublishBatch(TABLE, DueBatch("year=2019", "gone")),
        "batch year=2019: its files are gone",
    ),
    (steps.PublishBatch(TABLE, DueBatch("", "backfill")), "batch all"),
    (steps.CreateView(TABLE), "create the view shop.silver.orders"),
    (
        steps.ArchiveFiles(ZONE),
        "move files of shop.orders that every reader has taken to _processed/",
    ),
    (
        steps.BuildLayouts(TABLE, ("by_geo", "by_id")),
        "build the layouts by_geo, by_id: only batches that have changed",
    ),
    (steps.BuildLayouts(TABLE), "build the layouts: only batches that have changed"),
    (
        steps.BuildLayouts(TABLE, ("by_geo",), rows=False),
        "make the layouts by_geo, without rows: care builds them later",
    ),
]


@pytest.mark.parametrize(("step", "said"), SAID)
def test_a_step_is_one_line(step: RunStep, said: str) -> None:
    assert step_text(step) == said


def test_every_step_has_its_words() -> None:
    assert {type(step) for step, _ in SAID} == set(get_args(RunStep))


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_has_its_words(name: str) -> None:
    kind: type[BaseModel] = STRATEGIES[name]
    needed = {"unique_key": ("id",), "partition_column": "day"}
    strategy: Any = kind.model_validate(
        {field: value for field, value in needed.items() if field in kind.model_fields}
    )
    assert step_text(steps.Write(TABLE, strategy)).startswith(f"write by {name}: ")


def test_a_plan_tells_its_strategy_and_inputs() -> None:
    written = RunPlan(table=TABLE, run_id="r", prepare=(READ, steps.Write(TABLE, MERGE)))
    assert (plan_strategy(written), plan_inputs(written)) == ("incremental", READ.inputs)
    assert (
        plan_strategy(
            RunPlan(table=TABLE, run_id="r", prepare=(READ,), publish=(steps.CreateView(TABLE),))
        )
        == "view"
    )
    assert plan_strategy(RunPlan(table=TABLE, run_id="r", reason="no file is waiting")) == ""
