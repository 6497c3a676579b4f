"""The steps that come to a result: zones opened, the query or the code run over pinned inputs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lakebed.errors import BadBatch, BadFiles, RunFailed, UnknownName
from lakebed.landing import Landed, RememberedTypes, first_look, freeze, links, open_zone, processed
from lakebed.names import TableName, spark_identifier
from lakebed.pipelines.definition.python_inputs import works_with_duckdb
from lakebed.pipelines.planning.compile import Compiled, compile_query, relation, zone_view
from lakebed.pipelines.planning.pin_zones import read_zone
from lakebed.pipelines.planning.pins import ZoneKey
from lakebed.pipelines.planning.plan import OpenZone
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.evolve import present_fields
from lakebed.pipelines.running.steps.python_code import Answer, Context, run_code
from lakebed.pipelines.running.steps.zone_types import recall, without_rows
from lakebed.pipelines.services import Workbench
from lakebed.ports import FileInfo, Frame


def take_files(work: ActiveRun, step: OpenZone, *, keep: bool = False) -> None:
    """Read a zone's frozen files under their name; files that cannot be read are set aside, or refused where all are kept."""
    key = (step.zone, step.pattern)
    landed = _opened(work, key, step.files, _remembered(work, key, step.files), keep=keep)
    work.record = replace(work.record, set_aside=(*work.record.set_aside, *landed.set_aside))  # however the run ends
    frame = landed.frame if landed.frame is not None else _without_rows(work, step)
    work.landed[step.zone, step.pattern] = replace(landed, frame=frame)
    work.compute.name(frame, zone_view(step.zone, step.pattern))


def _remembered(work: ActiveRun, key: ZoneKey, files: Sequence[FileInfo]) -> RememberedTypes:
    """What is known of the zone's columns; while nothing is, what all waiting files show, this run's and those of later ones."""
    remembered, pin, ground = recall(work, key), work.setting.pins.landing.get(key), work.tools.ground
    if remembered.types or not pin or not pin.others:
        return remembered
    spec, waiting = read_zone(key[0], work.tools), (*files, *pin.others)
    shown = first_look(work.compute, ground.files, key[0], waiting, spec, address=ground.root.at)
    return replace(remembered, types=shown)


def _opened(work: ActiveRun, key: ZoneKey, files: Sequence[FileInfo], remembered: RememberedTypes, *, keep: bool) -> Landed:
    ground, zone = work.tools.ground, key[0]
    spec = read_zone(zone, work.tools)
    return open_zone(
        work.compute,
        ground.files,
        zone,
        files,
        spec,
        address=ground.root.at,
        run_id=work.run_id,
        keep=keep,
        remembered=remembered,
    )


def _without_rows(work: ActiveRun, step: OpenZone) -> Frame:
    """A zone from which no file tells of columns has those that it is known to have, or its newest file, and no row."""
    key = (step.zone, step.pattern)
    if remembered := without_rows(work, key):
        columns = ", ".join(f"CAST(NULL AS {type_}) AS {spark_identifier(name)}" for name, type_ in remembered.items())
        return work.compute.query(f"SELECT {columns} WHERE 1 = 0")
    files, spec = work.tools.ground.files, read_zone(step.zone, work.tools)
    present = freeze(files, step.zone, spec, pattern=step.pattern).files
    known = [file for file in (*processed(files, step.zone, spec, pattern=step.pattern), *present) if file.size]
    if not known:
        raise BadFiles(
            "no file is waiting, and nothing says which columns the zone has.",
            where=str(step.zone),
            safe="Nothing was written.",
            next="Put a file there, or set expected_schema in its zone.yaml.",
        )
    newest = max(known, key=lambda file: file.modified)
    work.compute.name(_opened(work, key, [newest], recall(work, key), keep=True).frame, "zone_columns")
    return work.compute.query("SELECT * FROM zone_columns LIMIT 0")


def calculate(work: ActiveRun) -> None:
    """The result, as a frame not yet computed."""
    if work.order.hand:
        work.frame = _as_frame(work, work.order.hand.frame)
    else:
        work.frame = _from_code(work) if work.spec.kind == "python" else _from_query(work)
    work.fields = work.compute.fields(work.frame)


def _from_query(work: ActiveRun) -> Frame:
    work.compiled = compile_query(work.setting)
    work.log.info("query:\n%s", work.compiled.text)
    return at_source(work.compiled, lambda: work.compute.query(work.compiled.text if work.compiled else ""))


def at_source(compiled: Compiled | None, ask: Callable[[], Any]) -> Any:
    """Ask the engine; what it says of a line of the query is said of the line of the source."""
    try:
        return ask()
    except RunFailed as error:
        if compiled is None or error.line is None:
            raise
        line = compiled.rendered.source_line(error.line)
        raise RunFailed(error.what, where=f"{compiled.where}:{line}", line=line, next=error.next) from error


def _from_code(work: ActiveRun) -> Frame:
    spec = work.spec
    bench = work.tools.workbench() if works_with_duckdb(spec.style, spec.source) else None
    if bench:
        work.resources.callback(bench.close)
    context = _context(work, bench)
    result = run_code(spec, context, spark=work.compute.session, conn=bench.connection if bench else None)
    return _as_frame(work, result)


def _as_frame(work: ActiveRun, result: Any) -> Frame:
    """A column without any value takes its type in the table."""
    known = tuple if work.first else lambda: present_fields(work)
    try:
        return work.compute.frame(result, known=known)
    except (RunFailed, BadBatch) as error:
        error.where = work.spec.file if work.spec.kind == "python" else str(work.table)
        raise


def _context(work: ActiveRun, bench: Workbench | None) -> Context:
    setting = work.setting
    mark = setting.watermark if setting.is_incremental else None
    return Context(
        run_id=work.run_id,
        ref=_refs(work, bench),
        landing_zone=_zones(work, bench),
        landing_files=lambda name, pattern=None: _files(work, name, pattern),
        this=_this(work, bench),
        is_incremental=Answer(setting.is_incremental),
        watermark=mark.value if mark else None,
        watermark_value=mark.text if mark else None,
        run_started_at=setting.started_at,
        vars=work.vars,
        config=work.spec.config.model_dump(mode="json"),
        logger=work.log,
    )


def _refs(work: ActiveRun, bench: Workbench | None) -> Callable[[str], Any]:
    known = {spelt: ref.table for ref in work.spec.refs for spelt in (ref.text, str(ref.table))}

    def ref(name: str) -> Any:
        if name not in known:
            raise UnknownName("ref in this pipeline", name, (ref.text for ref in work.spec.refs))
        return _read(work, known[name], bench)

    return ref


def _read(work: ActiveRun, table: TableName, bench: Workbench | None) -> Any:
    if bench is None:
        return work.compute.query(f"SELECT * FROM {relation(table, work.setting)}")
    built, pins = work.setting.built.get(table), work.setting.pins
    snapshot = work.setting.target.base(pins.ref) if table == work.table else pins.inputs[table].snapshot
    return bench.table(built.source if built else table, snapshot=snapshot, shown=pins.shown.get(table, ()))


def _this(work: ActiveRun, bench: Workbench | None) -> Any:
    return None if work.setting.target.absent else _read(work, work.table, bench)


def _zones(work: ActiveRun, bench: Workbench | None) -> Callable[..., Any]:
    def landing_zone(name: str, pattern: str | None = None) -> Any:
        zone = _asked(work, name, pattern)
        landed = work.read[zone.zone, zone.pattern]
        if bench is None:
            return landed.frame
        folder = work.tools.scratch(work.run_id) / work.setting.view(zone.zone, zone.pattern)
        return links(work.tools.ground.files, landed.files, folder)

    return landing_zone


def _files(work: ActiveRun, name: str, pattern: str | None) -> list[str]:
    zone = _asked(work, name, pattern)
    return [work.tools.ground.root.at(file.path) for file in work.read[zone.zone, zone.pattern].files]


def _asked(work: ActiveRun, name: str, pattern: str | None) -> Any:
    for zone in work.spec.zones:
        if zone.text == name and zone.pattern == pattern:
            return zone
    raise UnknownName("landing zone in this pipeline", name, (zone.text for zone in work.spec.zones))
