"""What earlier runs have left undone: looked for, without a JVM, where nothing else is to do."""

from dataclasses import replace

from lakebed.derived.identity import listed_tables
from lakebed.errors import LakebedError
from lakebed.pipelines.definition.spec import PipelineSpec, declared_layouts
from lakebed.pipelines.planning.backfills.look import BackfillLook
from lakebed.pipelines.planning.batch_plan import plan_batches
from lakebed.pipelines.planning.pin_inputs import Specs
from lakebed.pipelines.planning.pins import Pins, TargetTable, Undone
from lakebed.pipelines.planning.plan import NOTHING_UNDONE, RunPlan
from lakebed.pipelines.planning.run_decision import decide_run
from lakebed.pipelines.planning.sources.look import SourceLook
from lakebed.pipelines.running.steps.archiving import zones_to_archive
from lakebed.pipelines.running.steps.layouts import left_alone
from lakebed.pipelines.services import RunServices


def look_for_undone(
    spec: PipelineSpec, pins: Pins, target: TargetTable, specs: Specs, services: RunServices
) -> Undone:
    """What a run without new rows finds to do."""
    if decide_run(spec, pins, target).should_run:
        return NOTHING_UNDONE
    layouts = undone_layouts(spec, target, services)
    if not spec.config.archive_landing_zones:
        return layouts
    try:
        return replace(layouts, zones=zones_to_archive(spec.zone_names, specs, services))
    except LakebedError as error:
        return replace(layouts, notes=(f"not archived: {error.what}", *layouts.notes))


def plan_from_look(
    spec: PipelineSpec, look: SourceLook | BackfillLook, services: RunServices, *, run_id: str = ""
) -> RunPlan:
    """The plan of a source or a backfill; what is undone is looked for where no batch is due."""
    target = TargetTable(spec.table, look.metadata)
    undone = NOTHING_UNDONE if look.decision.due else undone_layouts(spec, target, services)
    layouts = services.builds_layouts
    return plan_batches(spec, target, look, run_id=run_id, layouts=layouts, undone=undone)


def undone_layouts(spec: PipelineSpec, target: TargetTable, services: RunServices) -> Undone:
    """The layouts that are not as the pipeline and its table say; a table without any costs no
    look.
    """
    declared = declared_layouts(spec)
    there = bool(target.metadata and listed_tables(target.metadata))
    if spec.is_view or target.absent or not (declared.specs or there):
        return NOTHING_UNDONE
    try:
        found = services.layouts.undone(spec.table, declared, rows=services.builds_layouts)
    except Exception:  # the step fails in the same way, and says so
        return Undone(layouts=tuple(layout.label for layout in declared.specs) or ("all",))
    if found.due:  # the step says the rest
        return Undone(layouts=found.due)
    return Undone(notes=tuple(left_alone(spec.table, found.undeclared, found.unknown)))
