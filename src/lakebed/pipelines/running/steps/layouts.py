"""The layouts of a table after it has changed. Whatever happens here, the table is published."""

import logging
from collections.abc import Iterator

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


def layout_notes(
    services: RunServices, table: TableName, spec: PipelineSpec | None, log: logging.Logger
) -> list[str]:
    """Make what a pipeline declares, build what is stale, and say what went wrong."""
    if services.layouts is None:
        return []
    declared = declared_layouts(spec) if spec and spec.kind != "hand" else None
    rows = services.builds_layouts
    try:
        done = services.layouts().bring_up(table, declared, rows=rows)
    except Exception as error:  # of an engine, too: the run has succeeded
        what = error.what if isinstance(error, LakebedError) else f"{type(error).__name__}: {error}"
        log.warning("layouts: %s", what)
        return [f"layouts were not built: {what}"]
    for build in done.builds:
        _log(build, log)
    return list(_notes(table, done))


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
    for name in done.undeclared:
        yield f"the layout {name} is not declared any more: lakebed layout drop {table} {name}"
    for hidden, kind in done.unknown.items():
        yield f"{hidden} was left alone: a newer Lakebed has derived it from {table}, as {kind}"
