"""The steps that compute the result: zones are opened, and the query or code runs over pinned
inputs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from lakebed.errors import BadBatch, BadFiles, RunFailed, UnknownName
from lakebed.landing import (
    RememberedTypes,
    ZoneRows,
    freeze,
    infer_zone_types,
    link_files,
    open_zone,
    processed_files,
    read_zone_spec,
)
from lakebed.names import TableName
from lakebed.pipelines.definition.python_inputs import reads_files_itself, works_with_duckdb
from lakebed.pipelines.planning.compile import CompiledQuery, compile_query, relation, zone_view
from lakebed.pipelines.planning.pins import ZoneKey
from lakebed.pipelines.planning.steps import OpenZone
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.evolve import present_fields
from lakebed.pipelines.running.steps.python_code import CallableFlag, Context, run_code
from lakebed.pipelines.running.steps.zone_types import odd_spellings, recall, without_rows
from lakebed.ports import Field, FileInfo, Frame, LocalSession


def take_files(run: ActiveRun, step: OpenZone, *, keep: bool = False) -> None:
    """Make a zone's listed files readable under the zone's name; unreadable files are set aside, or
    raise an error if `keep`.
    """
    progress = run.progress
    key = (step.zone, step.pattern)
    landed = _opened(run, key, step.files, _remembered(run, key, step.files), keep=keep)
    told = [*_own_reader(run, landed)]
    told += odd_spellings(landed.checked, where=str(step.zone)) if landed.checked else ()
    # however the run ends
    progress.record = replace(
        progress.record,
        set_aside=(*progress.record.set_aside, *landed.set_aside),
        warnings=(*progress.record.warnings, *told),
    )
    frame = landed.frame if landed.frame is not None else _without_rows(run, step)
    progress.landed[step.zone, step.pattern] = replace(landed, frame=frame)
    run.compute.create_view(frame, zone_view(step.zone, step.pattern))


def _own_reader(run: ActiveRun, landed: ZoneRows) -> Iterator[str]:
    """What to say of CSV files that DuckDB reads by its own rules."""
    of_csv = (
        any(group.format == "csv" for group in landed.checked.groups) if landed.checked else False
    )
    if of_csv and reads_files_itself(run.spec.style, run.spec.source):
        yield (
            "DuckDB's own reader takes texts such as 007 for numbers, as no other pipeline of the"
            " zone does; to read its rows, write FROM '{context.landing_zone(…)}'"
        )


def _remembered(run: ActiveRun, key: ZoneKey, files: Sequence[FileInfo]) -> RememberedTypes:
    """What is known about the zone's columns; if nothing is, what all waiting files show, including
    those of later runs.
    """
    remembered, pin = recall(run, key), run.context.pins.landing.get(key)
    if remembered.types or not pin or not pin.others:
        return remembered
    ports, waiting = run.services.ports, (*files, *pin.others)
    spec = read_zone_spec(ports.files, key[0])
    shown = infer_zone_types(
        run.compute.landing, ports.files, key[0], waiting, spec, address=ports.root.at
    )
    return replace(remembered, types=shown)


def _opened(
    run: ActiveRun,
    key: ZoneKey,
    files: Sequence[FileInfo],
    remembered: RememberedTypes,
    *,
    keep: bool,
) -> ZoneRows:
    ports, zone = run.services.ports, key[0]
    spec = read_zone_spec(ports.files, zone)
    return open_zone(
        run.compute.landing,
        ports.files,
        zone,
        files,
        spec,
        address=ports.root.at,
        run_id=run.run_id,
        keep=keep,
        remembered=remembered,
        checked="first" if keep else run.progress.files_checked,
    )


def _without_rows(run: ActiveRun, step: OpenZone) -> Frame:
    """If no file shows any columns, the zone has the remembered ones, or those of its newest file,
    and no rows.
    """
    key = (step.zone, step.pattern)
    if remembered := without_rows(run, key):
        return run.compute.landing.read(
            (), [Field(name, str(type_)) for name, type_ in remembered.items()]
        )
    files, spec = (
        run.services.ports.files,
        read_zone_spec(run.services.ports.files, step.zone),
    )
    present = freeze(files, step.zone, spec, pattern=step.pattern).files
    known = [
        file
        for file in (*processed_files(files, step.zone, spec, pattern=step.pattern), *present)
        if file.size
    ]
    if not known:
        bad = bool(run.progress.record.set_aside)
        which = "all waiting files were set aside" if bad else "no file is waiting"
        put = "Put them back as the reasons say" if bad else "Put a file there"
        raise BadFiles(
            f"{which}, and nothing says which columns the zone has.",
            where=str(step.zone),
            safe="Nothing was written.",
            next=f"{put}, or set expected_schema in its zone.yaml.",
        )
    newest = max(known, key=lambda file: file.modified)
    run.compute.create_view(
        _opened(run, key, [newest], recall(run, key), keep=True).frame, "zone_columns"
    )
    return run.compute.query("SELECT * FROM zone_columns LIMIT 0")


def calculate(run: ActiveRun) -> None:
    """The result, as a frame not yet computed."""
    progress = run.progress
    if run.options.manual_change:
        progress.frame = _as_frame(run, run.options.manual_change.frame)
    else:
        progress.frame = _from_code(run) if run.spec.kind == "python" else _from_query(run)
    progress.fields = run.compute.fields(progress.frame)


def _from_query(run: ActiveRun) -> Frame:
    progress = run.progress
    progress.compiled = compile_query(run.context)
    run.log.info("query:\n%s", progress.compiled.text)
    return at_source(
        progress.compiled,
        lambda: run.compute.query(progress.compiled.text if progress.compiled else ""),
    )


def at_source(compiled: CompiledQuery | None, ask: Callable[[], Any]) -> Any:
    """Ask the engine; line numbers in its errors are translated from the query to the pipeline's
    file.
    """
    try:
        return ask()
    except RunFailed as error:
        if compiled is None or error.line is None:
            raise
        line = compiled.rendered.source_line(error.line)
        raise RunFailed(
            error.what, where=f"{compiled.where}:{line}", line=line, next=error.next
        ) from error


def _from_code(run: ActiveRun) -> Frame:
    spec = run.spec
    bench = run.services.engines.workbench() if works_with_duckdb(spec.style, spec.source) else None
    if bench:
        run.resources.callback(bench.close)
    context = _context(run, bench)
    result = run_code(
        spec, context, spark=run.compute.session, conn=bench.connection if bench else None
    )
    return _as_frame(run, result)


def _as_frame(run: ActiveRun, result: Any) -> Frame:
    """A column without any value gets the type it has in the table."""
    known = tuple if run.is_first_run else lambda: present_fields(run)
    try:
        return run.compute.frame(result, known=known)
    except (RunFailed, BadBatch) as error:
        error.where = run.spec.file if run.spec.kind == "python" else str(run.table)
        raise


def _context(run: ActiveRun, bench: LocalSession | None) -> Context:
    context = run.context
    mark, chunk = context.watermark if context.is_incremental else None, context.pins.chunk
    return Context(
        run_id=run.run_id,
        ref=_refs(run, bench),
        landing_zone=_zones(run, bench),
        landing_files=lambda name, pattern=None: _files(run, name, pattern),
        this=_this(run, bench),
        is_incremental=CallableFlag(context.is_incremental),
        watermark=mark.value if mark else None,
        watermark_value=mark.text if mark else None,
        run_started_at=context.started_at,
        vars=run.vars,
        config=run.spec.config.model_dump(mode="json"),
        logger=run.log,
        batch_start=chunk.start.value if chunk else None,
        batch_end=chunk.end.value if chunk else None,
    )


def _refs(run: ActiveRun, bench: LocalSession | None) -> Callable[[str], Any]:
    known = {spelt: ref.table for ref in run.spec.refs for spelt in (ref.text, str(ref.table))}

    def ref(name: str) -> Any:
        if name not in known:
            raise UnknownName("ref in this pipeline", name, (ref.text for ref in run.spec.refs))
        return _read(run, known[name], bench)

    return ref


def _read(run: ActiveRun, table: TableName, bench: LocalSession | None) -> Any:
    if bench is None:
        return run.compute.query(f"SELECT * FROM {relation(table, run.context)}")
    built, pins = run.context.built.get(table), run.context.pins
    snapshot = (
        run.context.target.base(pins.ref) if table == run.table else pins.inputs[table].snapshot
    )
    return bench.table(
        built.source if built else table, snapshot=snapshot, shown=pins.shown.get(table, ())
    )


def _this(run: ActiveRun, bench: LocalSession | None) -> Any:
    return None if run.context.target.absent else _read(run, run.table, bench)


def _zones(run: ActiveRun, bench: LocalSession | None) -> Callable[..., Any]:
    def landing_zone(name: str, pattern: str | None = None) -> Any:
        zone = _asked(run, name, pattern)
        landed = run.read[zone.zone, zone.pattern]
        if bench is None:
            return landed.frame
        folder = run.services.engines.scratch(run.run_id) / run.context.view(
            zone.zone, zone.pattern
        )
        path = link_files(run.services.ports.files, landed.files, folder)
        if not reads_files_itself(run.spec.style, run.spec.source):
            bench.rows(path, run.compute.arrow(landed.frame))
        return path

    return landing_zone


def _files(run: ActiveRun, name: str, pattern: str | None) -> list[str]:
    zone = _asked(run, name, pattern)
    return [
        run.services.ports.root.at(file.path) for file in run.read[zone.zone, zone.pattern].files
    ]


def _asked(run: ActiveRun, name: str, pattern: str | None) -> Any:
    for zone in run.spec.zones:
        if zone.text == name and zone.pattern == pattern:
            return zone
    raise UnknownName("landing zone in this pipeline", name, (zone.text for zone in run.spec.zones))
