"""The steps of an adoption: the columns or rows of a folder are read, and its files taken over."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lakebed.errors import BadFiles, UsageError
from lakebed.landing import RememberedTypes, ZoneSpec
from lakebed.landing.source_files import open_source
from lakebed.names import spark_identifier
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.batches.rows import PATH_COLUMN, path_value
from lakebed.ports import ADOPTED_FROM, RUN_ID, Field, FileInfo, Frame, SetProperties
from lakebed.tables.adopting.hive import hive_pattern
from lakebed.tables.adopting.look import FoundFolder

# of a rewrite, which is one job; a source pipeline copies more, batch by batch
MOST_REWRITTEN = 100_000


def read_folder(run: ActiveRun, found: FoundFolder) -> None:
    """The columns of the table; for a rewrite also its rows, as a frame not yet computed."""
    progress = run.progress
    if not found.adoption.rewrite:
        progress.fields = found.adoption.columns
        return
    progress.frame = _rows(run, found)
    progress.fields = run.compute.fields(progress.frame)


def take_files(run: ActiveRun, found: FoundFolder) -> None:
    """Make the files part of the table, in one commit that also says whose they are.

    `gc.enabled` keeps other tools from removing them with old snapshots.
    """
    progress, catalog = run.progress, run.services.ports.catalog
    pointer = catalog.pointers([run.physical_table])[run.physical_table]
    summary = {RUN_ID: run.run_id}
    added = run.services.ports.snapshots.adding(pointer, found.added(), summary=summary)
    owner = SetProperties({ADOPTED_FROM: found.adoption.folder, "gc.enabled": "false"})
    catalog.amend(
        run.physical_table, [*added, owner], expected=pointer, leases=[run.held.require()]
    )
    rows = found.adoption.rows
    progress.result_rows = rows
    progress.record = replace(
        progress.record,
        rows={"result": rows, "inserted": rows, "total": rows},
        message=f"adopted {found.adoption.files} files of {found.adoption.folder}",
    )


def _rows(run: ActiveRun, found: FoundFolder) -> Frame:
    chosen = _bounded(found)
    try:
        landed = open_source(
            run.compute.landing,
            found.files,
            chosen,
            ZoneSpec(format="parquet", on_bad_file="fail"),
            where=found.adoption.folder,
            address=found.root.at,
            remembered=RememberedTypes(),
            path_column=PATH_COLUMN,
        )
    except BadFiles as error:
        error.safe = "Nothing was published."
        error.next = "Fix the files, or adopt them as tables of their own."
        raise
    there = [field for field in run.compute.fields(landed.frame) if field.name != PATH_COLUMN]
    return run.compute.select(landed.frame, list(_columns(there, found)))


def _bounded(found: FoundFolder) -> Sequence[FileInfo]:
    if found.adoption.files > MOST_REWRITTEN:
        raise UsageError(
            f"{found.adoption.files:,} files are too many to be copied in one job; at most"
            f" {MOST_REWRITTEN:,} are possible.",
            where=found.adoption.folder,
            safe="Nothing was changed.",
            next="Adopt the folder without a rewrite, or make a pipeline with this folder as its"
            " source: it copies batch by batch.",
        )
    return tuple(found.infos())


def _columns(there: Sequence[Field], found: FoundFolder) -> Iterator[str]:
    """Columns of the files, then those of the paths, which decide where both have one."""
    names = found.adoption.partition_by
    pattern = hive_pattern(found.path, names, text=found.adoption.folder)
    in_path = {name.casefold() for name in names}
    for field in there:
        if field.name.casefold() not in in_path:
            yield spark_identifier(field.name)
    for name, kind in zip(names, found.types, strict=True):
        value = path_value(pattern, name, str(kind), root=found.root)
        yield f"{value} AS {spark_identifier(name)}"
