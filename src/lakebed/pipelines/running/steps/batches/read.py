"""Reading one batch of a source: at once, or in parts into a hidden table."""

from collections.abc import Mapping, Sequence

from lakebed.errors import BadFiles, near, suggestion
from lakebed.names import spark_identifier
from lakebed.pipelines.planning.pins import SourceBatch
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.batches.rows import NO_COLUMN, NOTHING_KNOWN, open_files, unfit
from lakebed.pipelines.running.steps.proving import prove_files
from lakebed.pipelines.running.steps.write import create_stage
from lakebed.ports import Field, Frame
from lakebed.tables import as_stored
from lakebed.types import ColumnType, join_types


def read_batch(run: ActiveRun, batch: SourceBatch) -> None:
    """The rows of a batch, as a frame not yet computed; none if its files are gone."""
    progress = run.progress
    progress.frame = _rows(run, batch) if batch.files else None
    if progress.frame is None:
        progress.frame = _no_row(run, batch)
        progress.fields = run.compute.fields(progress.frame)
        return
    progress.fields = run.compute.fields(progress.frame)
    _require_keys(run, [field.name for field in progress.fields], batch)


def _rows(run: ActiveRun, batch: SourceBatch) -> Frame | None:
    if batch.in_parts:
        return _in_parts(run, batch)
    return open_files(run, batch, tuple(batch.files))


def _no_row(run: ActiveRun, batch: SourceBatch) -> Frame:
    """Files that are gone, and [], say that there is no row; a file of no byte says nothing."""
    is_told = not batch.files or any(file.size for file in batch.files)
    if not is_told or run.context.target.absent:
        raise unfit(run, NO_COLUMN, batch.first.path)
    return run.compute.query(f"SELECT * FROM {run.table.spark} WHERE 1 = 0")


def _in_parts(run: ActiveRun, batch: SourceBatch) -> Frame | None:
    """The rows of all parts, by way of a hidden table: the batch is still written in one commit,
    and no job is given more files than fit into memory.
    """
    try:
        found = _stage(run, batch, NOTHING_KNOWN)
    except _OtherTypes:
        run.log.info("parts of batch %s differ in types: all are looked at first", batch.label)
        run.services.ports.catalog.purge(run.stage)
        found = _stage(run, batch, _types_of_all(run, batch))
    return run.compute.query(f"SELECT * FROM {run.stage.spark}") if found else None


class _OtherTypes(Exception):
    """A part has other types than those before it."""


def _stage(run: ActiveRun, batch: SourceBatch, known: Mapping[str, ColumnType]) -> bool:
    """Add the rows of every part to the hidden table; whether there are columns at all."""
    staged: tuple[Field, ...] = ()
    for number, part in enumerate(batch.parts(), start=1):
        frame = open_files(run, batch, part, known=known)
        if frame is None:
            continue
        staged = _add(run, frame, staged)
        prove_files(run)
        run.log.info("batch %s: part %d, %d files", batch.label or "all", number, len(part))
    return bool(staged)


def _add(run: ActiveRun, frame: Frame, staged: tuple[Field, ...]) -> tuple[Field, ...]:
    """Add a part's rows; returns the columns of the hidden table."""
    fields, compute = run.compute.fields(frame), run.compute
    if not staged:
        create_stage(run, frame)
        return tuple(fields)
    there = {field.name.casefold(): field for field in staged}
    if any(there.get(one.name.casefold(), one).type != one.type for one in fields):
        if run.progress.may_be_bad:  # it starts over, and what is learned is then certain
            raise BadFiles("parts of it differ in types.", where=str(run.table))
        raise _OtherTypes
    new = tuple(field for field in fields if field.name.casefold() not in there)
    if new:
        added = ", ".join(f"{spark_identifier(one.name)} {as_stored(one).type}" for one in new)
        compute.execute(f"ALTER TABLE {run.stage.spark} ADD COLUMNS ({added})")
    compute.append(compute.conform(frame, (*staged, *new)), run.stage.spark)
    return (*staged, *new)


def _types_of_all(run: ActiveRun, batch: SourceBatch) -> dict[str, ColumnType]:
    """The types that fit the values of all parts."""
    found: dict[str, ColumnType] = {}
    for part in batch.parts():
        open_files(run, batch, part)
        checked = run.progress.read.checked if run.progress.read else None
        for name, type_ in (checked.learned if checked else {}).items():
            before = found.get(name.casefold(), type_)
            found[name.casefold()] = join_types(before, type_)
    return found


def _require_keys(run: ActiveRun, names: Sequence[str], batch: SourceBatch) -> None:
    there = {name.casefold() for name in names}
    for column in run.spec.config.arrangement.columns:
        if column.casefold() not in there:
            what = f"neither its files nor their paths have the column {column!r}"
            raise unfit(run, f"{what}.", batch.first.path, suggestion(near(column, names)))
