"""What a plan has besides the computation: what earlier runs have left undone, what comes after
batches, and what is done only if something comes in between. Without a lake.
"""

from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest

from lakebed.batches.changes import BatchDecision, DueBatch
from lakebed.batches.finding import FoundBatches
from lakebed.batches.state import BatchStates
from lakebed.pipelines.definition.load import read_pipeline
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.batch_plan import plan_batches
from lakebed.pipelines.planning.compile import TemplateContext
from lakebed.pipelines.planning.otherwise import conditional_steps
from lakebed.pipelines.planning.pins import Pins, TargetTable, Undone, ZoneKey, ZonePin
from lakebed.pipelines.planning.plan import RunPlan, plan_run
from lakebed.pipelines.planning.plan_text import Plans, condition_text, step_text
from lakebed.pipelines.planning.sources.look import SourceLook
from lakebed.pipelines.planning.steps import (
    ArchiveFiles,
    BuildLayouts,
    ConditionalStep,
    PublishBatch,
    TakeCare,
)
from tests.pipelines.test_due import FILES, TABLE, ZONE, metadata

FOLDER = TABLE.pipeline_folder
OF_ZONE = "SELECT * FROM {{ landing_zone('orders') }}"
LAYOUT = "layouts: [{name: by_day, partition_by: day}]\n"
THERE = TargetTable(TABLE, metadata("append"))
EMPTY: dict[ZoneKey, ZonePin] = {(ZONE, None): ZonePin()}


def pipeline(config: str = "", source: str = OF_ZONE) -> PipelineSpec:
    name = "pipeline.py" if "def run" in source else "pipeline.sql"
    return read_pipeline(FOLDER, {name: source, "config.yaml": config})


def test_a_run_with_nothing_to_do_does_what_was_left_undone_and_else_nothing() -> None:
    spec, pins = pipeline(f"merge_strategy: append_only\n{LAYOUT}"), Pins("r", {}, EMPTY)
    assert plan_run(spec, pins, THERE).steps == ()
    undone = Undone((ZONE,), ("by_day",))
    plan = plan_run(spec, pins, THERE, undone=undone)
    assert plan.steps == plan.after == (ArchiveFiles(ZONE), BuildLayouts(TABLE, ("by_day",)))
    plan = plan_run(spec, pins, THERE, undone=undone, layouts=False)
    assert plan.after[-1] == BuildLayouts(TABLE, ("by_day",), rows=False)
    plan = plan_run(spec, pins, THERE, undone=Undone(notes=("by_id is not declared any more",)))
    assert plan.steps == ()
    assert plan.reason == "no file is waiting in shop.orders; by_id is not declared any more"


def look(spec: PipelineSpec, *due: DueBatch) -> SourceLook:
    assert spec.batches is not None
    found, decision = FoundBatches((), BytesIO()), BatchDecision(due, unchanged=1)
    return SourceLook(spec.batches, found, BatchStates({}), decision, THERE.metadata)


def test_batches_are_steps_and_layouts_and_care_come_after_them() -> None:
    spec = read_pipeline(
        FOLDER, {"config.yaml": f"source: in/{{year}}.json\nbatch_by: [year]\n{LAYOUT}"}
    )
    given: dict[str, Any] = {"run_id": "r", "layouts": True, "undone": Undone()}
    gone = DueBatch("year=2020", "gone"), DueBatch("year=2021", "gone")
    plan = plan_batches(spec, THERE, look(spec, *gone), **given)
    assert plan.steps == (
        PublishBatch(TABLE, gone[0]),
        PublishBatch(TABLE, gone[1]),
        BuildLayouts(TABLE, ("by_day",)),
        TakeCare(TABLE),
    )
    arranging, further = plan.each
    assert (arranging.first, arranging.count) == ("year=2020", 1)
    assert (further.first, further.count) == ("year=2021", 1)
    kinds = [step.kind for step in further.steps]
    assert kinds == ["ReadBatch", "PrepareSchema", "OpenBranch", "Write", "Publish"]
    assert [step.kind for step in arranging.steps] == [*kinds[:2], "EvolveLayout", *kinds[2:]]
    assert conditions(plan.otherwise) == [
        "if a file is not as it seems",
        "if others have changed meanwhile what was read",
        "if it fails for a reason that may pass",
    ]
    assert plan_batches(spec, THERE, look(spec), **given).steps == ()
    plan = plan_batches(
        spec, THERE, look(spec), **(given | {"undone": Undone(layouts=("by_day",))})
    )
    assert (plan.steps, plan.otherwise) == ((BuildLayouts(TABLE, ("by_day",)),), ())


def conditions(steps: tuple[ConditionalStep, ...]) -> list[str]:
    return [condition_text(step) for step in steps]


def otherwise(spec: PipelineSpec, target: TargetTable, **options: Any) -> list[str]:
    pins = Pins("r", {}, {(ZONE, None): ZonePin(FILES, 1)} if spec.zones else {})
    now = datetime(2026, 1, 1, tzinfo=UTC)
    context = TemplateContext(spec, {}, pins, target, {}, None, now, {})
    plan = plan_run(spec, pins, target)
    return [step.kind for step in conditional_steps(context, plan, None, **options)]


ONE = "SELECT 1 AS id"
APPENDS = "merge_strategy: append_only\n"


@pytest.mark.parametrize(
    ("spec", "options", "kinds"),
    [
        (pipeline(APPENDS, ONE), {}, ["Rebase", "StartOver"]),
        (pipeline(APPENDS + "max_retries: 2\n", ONE), {}, ["Rebase", "StartOver", "TryAgain"]),
        (pipeline("", ONE), {}, ["StartOver"]),
        (pipeline(APPENDS, "SELECT count(*) AS id FROM {{ this }}"), {}, ["StartOver"]),
        (pipeline(APPENDS, "def run(spark, context):\n    return 1\n"), {}, ["StartOver"]),
        (pipeline(APPENDS + "max_retries: 2\n", ONE), {"alone": False}, ["StartOver"]),
        (pipeline(APPENDS, ONE), {"readable_once": True}, ["Rebase"]),
    ],
)
def test_what_is_done_if_others_come_in_between(
    spec: PipelineSpec, options: dict[str, Any], kinds: list[str]
) -> None:
    assert otherwise(spec, THERE, **options) == kinds


def test_nothing_comes_in_between_where_nothing_is_done() -> None:
    spec, pins = pipeline(), Pins("r", {}, EMPTY)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    context = TemplateContext(spec, {}, pins, THERE, {}, None, now, {})
    idle = RunPlan(table=TABLE, run_id="r", after=(ArchiveFiles(ZONE),))
    assert list(conditional_steps(context, idle, None)) == []
    first = replace(context, target=TargetTable(TABLE))
    plan = RunPlan(
        table=TABLE, run_id="r", publish=plan_run(pipeline("", ONE), pins, THERE).publish
    )
    assert [step_text(step) for step in conditional_steps(first, plan, None)] == [
        "start over up to 3 times"
    ]


OF_TABLE = "SELECT * FROM {{ ref('bronze.items') }}"


@pytest.mark.parametrize(
    ("strategy", "source", "warned"),
    [
        ("append_only", OF_TABLE, True),
        ("append_only", f"{OF_TABLE} {{% if watermark %}}WHERE at > {{{{ watermark }}}}{{% endif %}}", False),
        ("append_only", f"{OF_TABLE} WHERE id NOT IN (SELECT id FROM {{{{ this }}}})", False),
        ("append_only", f"SELECT *, {{{{ run_started_at }}}} AS at FROM ({OF_TABLE})", False),
        ("append_only", f"{OF_ZONE} JOIN ({OF_TABLE}) USING (id)", False),
        ("full_refresh", OF_TABLE, False),
    ],
)  # fmt: skip
def test_a_plan_warns_where_every_run_would_add_the_rows_of_another_table_again(
    strategy: str, source: str, warned: bool
) -> None:
    spec = pipeline(f"merge_strategy: {strategy}\n", source)
    waiting: dict[ZoneKey, ZonePin] = {(ZONE, None): ZonePin(FILES, 1)} if spec.zones else {}
    told = plan_run(spec, Pins("r", {}, waiting), THERE).advice
    assert [one.split(",")[0] for one in told] == [
        "every run adds all rows of shop.bronze.items again"
    ] * warned


def test_a_plan_warns_of_layouts_that_cannot_be_built() -> None:
    never = "layouts: [{name: never, partition_by: ['day(at)', 'month(at)']}]\n"
    spec = pipeline(never, "SELECT 1")
    assert "the layout never cannot" in plan_run(spec, Pins("r", {}, {}), THERE).advice[0]
    assert plan_run(spec, Pins("r", {}, {}), TargetTable(TABLE)).advice


def test_a_notebook_shows_plans_as_tables() -> None:
    plan = plan_run(pipeline(source="SELECT 1 AS a"), Pins("r", {}, {}), THERE)
    page = Plans([plan, plan])._repr_html_()
    assert page == plan._repr_html_() * 2
    assert page.count("<table>") == 2
    assert f"<td>1</td><td>{step_text(plan.steps[0])}</td>" in page
