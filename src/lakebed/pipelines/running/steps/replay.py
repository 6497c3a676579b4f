"""Rebuilding a table as its runs built it: batch by batch, into a hidden table that then replaces
all rows in one commit.
"""

from contextlib import ExitStack
from dataclasses import replace

from lakebed.errors import RunFailed
from lakebed.landing import frame_of_some, read_zone_spec
from lakebed.names import spark_identifier
from lakebed.pipelines.planning.compile import zone_view
from lakebed.pipelines.planning.pins import ZoneKey
from lakebed.pipelines.planning.steps import Replay
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.calculate import calculate
from lakebed.pipelines.running.steps.evolve import require_fitting_result
from lakebed.pipelines.running.steps.merge import merge
from lakebed.pipelines.running.steps.write import check_keys, compute_stage, require_rows
from lakebed.ports import Field, FileInfo, Frame
from lakebed.tables import (
    alter_statements,
    as_stored,
    create_table,
    drop_statements,
    first_batch_rows,
    plan_schema,
    selection,
)

AT_ONCE = 50  # batches that are added in one commit


def replay(run: ActiveRun, step: Replay) -> None:
    """Add the rows of one batch as of the time its run began; after the last batch, all rows are
    the result.
    """
    batch, context, local = step.batch, run.context, run.services.local
    started_at = local(batch.asked_at) if batch.asked_at else context.started_at
    timestamp = (batch.at or run.timestamp) + batch.later
    try:
        with ExitStack() as resources:  # what one batch needs is closed before the next
            as_then = replace(context, part=step.number, started_at=started_at)
            _replay(replace(run, context=as_then, timestamp=timestamp, resources=resources), step)
    finally:
        run.progress.batch.clear()


def _replay(run: ActiveRun, step: Replay) -> None:
    has_files = any(_good(run, key, files) for key, files in step.batch.files.items())
    # at least its columns are known in the end
    if has_files or (step.is_last and not run.progress.replay_fields):
        _calculate(run, step)
        _follow_columns(run, step)
        (_collect if step.strategy.only_adds else _merge)(run, step)
    if step.is_last:
        _conclude(run, step)


def _good(run: ActiveRun, key: ZoneKey, files: tuple[FileInfo, ...]) -> list[FileInfo]:
    """The files that were not set aside."""
    good = set(run.progress.landed[key].files)
    return [file for file in files if file in good]


def _calculate(run: ActiveRun, step: Replay) -> None:
    """The batch's files have the columns that they had in their run; for other columns a query sees
    NULL.
    """
    _name_part(run, step, all_columns=False)
    try:
        calculate(run)
    except RunFailed:
        _name_part(run, step, all_columns=True)
        calculate(run)
    require_fitting_result(run)


def _name_part(run: ActiveRun, step: Replay, *, all_columns: bool) -> None:
    for key, landed in run.progress.landed.items():
        files = _good(run, key, step.batch.files.get(key, ()))
        frame = _part(run, key, files, all_columns=all_columns)
        if frame is None:  # the batch has no file of this zone
            frame = run.compute.query(f"SELECT * FROM {spark_identifier(zone_view(*key))} LIMIT 0")
        run.progress.batch[key] = replace(landed, frame=frame, files=tuple(files))
        run.compute.create_view(frame, run.context.view(*key))


def _part(
    run: ActiveRun, key: ZoneKey, files: list[FileInfo], *, all_columns: bool
) -> Frame | None:
    checked, address = run.progress.landed[key].checked, run.services.ports.root.at
    if checked is None:
        return None
    return frame_of_some(
        run.compute.landing,
        checked,
        files,
        read_zone_spec(run.services.ports.files, key[0]),
        address,
        all_columns=all_columns,
    )


def _follow_columns(run: ActiveRun, step: Replay) -> None:
    """The hidden table's columns follow the batch's as a table's follow a run's; nobody reads it,
    so changes apply at once.
    """
    progress = run.progress
    own = [Field(name, type_) for name, type_ in step.strategy.own_columns]
    if not progress.replay_fields:
        run.compute.execute(_creation(run, step, own))
    else:
        names, policy = [field.name for field in own], run.spec.config.schema_policy
        change = plan_schema(
            run.table, progress.replay_fields, progress.fields, policy=policy, own=names
        )
        for statement in (
            *alter_statements(step.table, change),
            *drop_statements(step.table, progress.replay_fields, change),
        ):
            run.compute.execute(statement)
        if not change.before_gates and change.final is None:
            return
    progress.replay_fields = run.compute.fields(
        run.compute.query(f"SELECT * FROM {step.table.spark}")
    )


def _creation(run: ActiveRun, step: Replay, own: list[Field]) -> str:
    placement = run.services.placement
    placement.ports.catalog.create_namespace(step.table.namespace, step.table.layer)
    columns = ", ".join(
        f"{spark_identifier(field.name)} {field.type}"
        for field in (*map(as_stored, run.progress.fields), *own)
    )
    return create_table(
        step.table,
        columns,
        location=placement.temporary_location(step.table),
        properties=placement.temporary_properties(),
    )


def _collect(run: ActiveRun, step: Replay) -> None:
    """Rows that are only added are collected, so that many batches make one commit."""
    progress = run.progress
    progress.collected.append((progress.frame, progress.fields))
    if len(progress.collected) >= AT_ONCE and not step.is_last:
        run.compute.append(_union(run), step.table.spark)
        progress.collected.clear()
        progress.replayed = True


def _union(run: ActiveRun) -> Frame:
    """All collected rows, with the present columns."""
    return run.compute.union(
        [
            run.compute.select(frame, selection(fields, run.progress.replay_fields, sources={}))
            for frame, fields in run.progress.collected
        ]
    )


def _merge(run: ActiveRun, step: Replay) -> None:
    """Stage, check and merge the batch, as its run did."""
    progress = run.progress
    compute_stage(run)
    require_rows(run)
    check_keys(run)
    repeats = progress.keys != progress.result_rows
    if not progress.replayed:
        rows = run.compute.query(
            first_batch_rows(
                step.strategy,
                staged=run.stage.spark,
                columns=progress.fields,
                now=run.timestamp_literal,
                repeats=repeats,
            )
        )
        shaped = run.compute.select(
            rows, selection(run.compute.fields(rows), progress.replay_fields, sources={})
        )
        run.compute.append(shaped, step.table.spark)
    elif progress.result_rows or (
        step.strategy.absence_matters and run.spec.config.empty_policy != "skip"
    ):
        merge(run, step.table.spark, repeats=repeats, present=progress.replay_fields)
    progress.replayed = True
    run.services.ports.catalog.purge(run.stage)


def _conclude(run: ActiveRun, step: Replay) -> None:
    """The rows of all batches are the result of the run; they are counted as they are written."""
    progress = run.progress
    hidden = run.compute.query(f"SELECT * FROM {step.table.spark}")
    if progress.collected and progress.replayed:
        run.compute.append(_union(run), step.table.spark)
    progress.frame = _union(run) if progress.collected and not progress.replayed else hidden
    own = {name for name, _ in step.strategy.own_columns}
    last = [field.name.casefold() for field in progress.fields]
    kept_fields = [field for field in progress.replay_fields if field.name not in own]
    # the columns are those of the last result, in its order
    if run.spec.config.schema_policy == "sync":
        kept_fields.sort(key=lambda field: last.index(field.name.casefold()))
    progress.fields, progress.result_rows, progress.keys = tuple(kept_fields), None, None
    progress.replayed = True
