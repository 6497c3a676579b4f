"""Making a table again as its runs made it: batch by batch, into a hidden table that then replaces all rows in one commit."""

from contextlib import ExitStack
from dataclasses import replace

from lakebed.errors import RunFailed
from lakebed.landing import frame_of_some
from lakebed.names import spark_identifier
from lakebed.pipelines.planning.compile import zone_view
from lakebed.pipelines.planning.pin_zones import read_zone
from lakebed.pipelines.planning.pins import ZoneKey
from lakebed.pipelines.planning.plan import Replay
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.calculate import calculate
from lakebed.pipelines.running.steps.evolve import refuse_unfit_result
from lakebed.pipelines.running.steps.write import check_keys, compute_stage, merge, refuse_empty
from lakebed.ports import Field, FileInfo, Frame
from lakebed.tables import alterations, create_table, fresh_rows, kept, plan_schema, removals, selection

AT_ONCE = 50  # batches of append_only that are added in one commit


def replay(work: ActiveRun, step: Replay) -> None:
    """Bring in the rows of one batch, as of the moment when its run began; after the last one all rows are the result."""
    setting, resources, moment, asked_at = work.setting, work.resources, work.moment, step.batch.asked_at
    work.moment = (step.batch.at or moment) + step.batch.later
    work.setting = replace(setting, part=step.number, started_at=work.tools.local(asked_at) if asked_at else setting.started_at)
    try:
        with ExitStack() as work.resources:  # what one batch needs is given back before the next
            _replay(work, step)
    finally:
        work.setting, work.resources, work.moment = setting, resources, moment
        work.part.clear()


def _replay(work: ActiveRun, step: Replay) -> None:
    has_files = any(_good(work, key, files) for key, files in step.batch.files.items())
    if has_files or (step.is_last and not work.replay_fields):  # at least its columns are known in the end
        _calculate(work, step)
        _follow_columns(work, step)
        (_collect if step.strategy.strategy == "append_only" else _merge)(work, step)
    if step.is_last:
        _conclude(work, step)


def _good(work: ActiveRun, key: ZoneKey, files: tuple[FileInfo, ...]) -> list[FileInfo]:
    """Those that were not set aside."""
    good = set(work.landed[key].files)
    return [file for file in files if file in good]


def _calculate(work: ActiveRun, step: Replay) -> None:
    """The batch's files have the columns that they had for their run; a query that names others sees NULL there."""
    _name_part(work, step, all_columns=False)
    try:
        calculate(work)
    except RunFailed:
        _name_part(work, step, all_columns=True)
        calculate(work)
    refuse_unfit_result(work)


def _name_part(work: ActiveRun, step: Replay, *, all_columns: bool) -> None:
    for key, landed in work.landed.items():
        files = _good(work, key, step.batch.files.get(key, ()))
        frame = _part(work, key, files, all_columns=all_columns)
        if frame is None:  # the batch has no file of this zone
            frame = work.compute.query(f"SELECT * FROM {spark_identifier(zone_view(*key))} LIMIT 0")
        work.part[key] = replace(landed, frame=frame, files=tuple(files))
        work.compute.name(frame, work.setting.view(*key))


def _part(work: ActiveRun, key: ZoneKey, files: list[FileInfo], *, all_columns: bool) -> Frame | None:
    checked, address = work.landed[key].checked, work.tools.ground.root.at
    if checked is None:
        return None
    return frame_of_some(work.compute, checked, files, read_zone(key[0], work.tools), address, all_columns=all_columns)


def _follow_columns(work: ActiveRun, step: Replay) -> None:
    """The hidden table's columns follow the batch's as a table's follow a run's; nobody reads it, so nothing waits."""
    own = [Field(name, type_) for name, type_ in step.strategy.own_columns]
    if not work.replay_fields:
        work.compute.execute(_creation(work, step, own))
    else:
        names, policy = [field.name for field in own], work.spec.config.schema_policy
        change = plan_schema(work.table, work.replay_fields, work.fields, policy=policy, own=names)
        for statement in (*alterations(step.table, change), *removals(step.table, work.replay_fields, change)):
            work.compute.execute(statement)
        if not change.before_gates and change.final is None:
            return
    work.replay_fields = work.compute.fields(work.compute.query(f"SELECT * FROM {step.table.spark}"))


def _creation(work: ActiveRun, step: Replay, own: list[Field]) -> str:
    ground = work.tools.ground
    ground.catalog.create_namespace(step.table.namespace, step.table.layer)
    columns = ", ".join(f"{spark_identifier(field.name)} {field.type}" for field in (*map(kept, work.fields), *own))
    return create_table(step.table, columns, location=ground.passing_place(step.table), properties=ground.passing_properties())


def _collect(work: ActiveRun, step: Replay) -> None:
    """Rows that are only added wait for each other: many batches are one commit."""
    work.collected.append((work.frame, work.fields))
    if len(work.collected) >= AT_ONCE and not step.is_last:
        work.compute.append(_union(work), step.table.spark)
        work.collected.clear()
        work.replayed = True


def _union(work: ActiveRun) -> Frame:
    """All that was collected, under the columns of now."""
    return work.compute.union(
        [work.compute.select(frame, selection(fields, work.replay_fields, sources={})) for frame, fields in work.collected]
    )


def _merge(work: ActiveRun, step: Replay) -> None:
    """Stage, check and merge the batch, as its run did."""
    compute_stage(work)
    refuse_empty(work)
    check_keys(work)
    repeats = work.keys != work.result_rows
    if not work.replayed:
        rows = work.compute.query(
            fresh_rows(step.strategy, staged=work.stage.spark, columns=work.fields, now=work.now, repeats=repeats)
        )
        shaped = work.compute.select(rows, selection(work.compute.fields(rows), work.replay_fields, sources={}))
        work.compute.append(shaped, step.table.spark)
    elif work.result_rows or (step.strategy.counts_absence and work.spec.config.empty_policy != "skip"):
        merge(work, step.table.spark, repeats=repeats, present=work.replay_fields)
    work.replayed = True
    work.tools.ground.catalog.purge(work.stage)


def _conclude(work: ActiveRun, step: Replay) -> None:
    """What all batches came to is the result of the run; how many rows it has is counted as it is written."""
    hidden = work.compute.query(f"SELECT * FROM {step.table.spark}")
    if work.collected and work.replayed:
        work.compute.append(_union(work), step.table.spark)
    work.frame = _union(work) if work.collected and not work.replayed else hidden
    own = {name for name, _ in step.strategy.own_columns}
    last = [field.name.casefold() for field in work.fields]
    kept_fields = [field for field in work.replay_fields if field.name not in own]
    if work.spec.config.schema_policy == "sync":  # the columns are those of the last result, in its order
        kept_fields.sort(key=lambda field: last.index(field.name.casefold()))
    work.fields, work.result_rows, work.keys = tuple(kept_fields), None, None
    work.replayed = True
