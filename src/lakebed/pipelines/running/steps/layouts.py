"""What a table needs after it has changed: its layouts, and after many commits care. Whatever
happens here, the table is published.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping

from lakebed.derived.building.run import TableBuilds
from lakebed.derived.building.steps import LayoutBuild
from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec, declared_layouts
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.services import RunServices


def bring_up_layouts(run: ActiveRun) -> None:
    """Make and build the layouts of the run's table; what there is to say goes into its notes."""
    run.progress.notes += layout_notes(run.services, run.table, run.spec, run.log)


def take_care(run: ActiveRun) -> None:
    """Do what is due after many commits, by the run that made them: it holds the lease. What fails
    is repeated by the next care.
    """
    published = any(batch.state == "success" for batch in run.progress.record.batches)
    if not published:
        return
    for entry in run.services.care(run.table, run.held):
        run.log.info("care: %s of %s: %s", entry.action, entry.subject, entry.state)


def layout_notes(
    services: RunServices, table: TableName, spec: PipelineSpec | None, log: logging.Logger
) -> list[str]:
    """Make what a pipeline declares, build what is stale, and say what went wrong."""
    declared = declared_layouts(spec) if spec and spec.kind != "hand" else None
    rows = services.builds_layouts
    try:
        done = services.layouts.bring_up(table, declared, rows=rows)
    except Exception as error:  # of an engine, too: the run has succeeded
        what = what_failed(error)
        log.warning("layouts: %s", what)
        return [f"layouts were not built: {what}"]
    for build in done.builds:
        _log(build, log)
    return list(_notes(table, done))


def what_failed(error: Exception) -> str:
    """What to say of an error, or of an unexpected exception."""
    return error.what if isinstance(error, LakebedError) else f"{type(error).__name__}: {error}"


def _log(build: LayoutBuild, log: logging.Logger) -> None:
    for warning in build.warnings:
        log.warning("layout %s", warning)
    told = (build.name, build.built, build.removed, build.seconds)
    log.info("layout %s: %d batches built, %d removed, %.1f s", *told)
    for name, value in build.metrics.items() if build.built else ():
        log.info("metric %s = %s (%s)", name, value, build.name)


def _notes(table: TableName, done: TableBuilds) -> Iterator[str]:
    for build in done.builds:
        if build.error:
            yield f"the layout {build.name} was not built: {build.error}"
    yield from left_alone(table, done.undeclared, done.unknown)


def left_alone(
    table: TableName, undeclared: Iterable[str], unknown: Mapping[TableName, str]
) -> Iterator[str]:
    """What is to be said of layouts that stay as they are."""
    for name in undeclared:
        yield f"the layout {name} is not declared any more: lakebed layout drop {table} {name}"
    for hidden, kind in unknown.items():
        yield f"{hidden} was left alone: a newer Lakebed has derived it from {table}, as {kind}"
