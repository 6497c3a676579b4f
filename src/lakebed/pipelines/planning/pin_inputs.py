"""Pinning: everything a run reads is decided by reading the catalog once and each zone once."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from lakebed.errors import BadPipeline, UsageError, near, suggestion
from lakebed.landing import read_zone_spec
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec, Ref
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.batches import batches_of, require_separate_extracts
from lakebed.pipelines.planning.pin_zones import pin_zones, require_known_zones
from lakebed.pipelines.planning.pins import Batch, Pins, TargetTable, ZoneKey, ZonePin
from lakebed.pipelines.services import RunServices
from lakebed.ports import ColumnAlias, InputPin, TableMetadata
from lakebed.tables import Renames, apply_renames, pending_renames

Specs = Mapping[TableName, PipelineSpec]


@dataclass(frozen=True)
class UnpublishedInput:
    """A table that the same build has written but not yet published, and where its dependants read
    it.
    """

    source: TableName
    snapshot: int | None
    shown: tuple[ColumnAlias, ...] = ()  # its columns under the names they will have


def pin_inputs(
    spec: PipelineSpec,
    specs: Specs,
    services: RunServices,
    options: RunOptions,
    *,
    run_id: str,
    built: Mapping[TableName, UnpublishedInput],
) -> tuple[Pins, TargetTable]:
    """What a run of this pipeline reads, and its table as it is now.

    All inputs are as of one moment, except those in `built`.
    """
    refs = tuple(_tables_read(spec, specs))
    found = _metadata_now({spec.table, *(ref.table for ref in refs)} - built.keys(), services)
    _require_known(refs, {*found, *built}, specs, services)
    read = (ref.table for ref in refs if ref.table != spec.table)
    inputs = {table: _input(table, found, built, options.ref) for table in read}
    target = _target(spec, found.get(spec.table), services)
    if options.request.full_refresh and not target.absent:
        _require_no_lost_history(spec)
    shown = {table: _shown(pin, found, built) for table, pin in inputs.items()}
    shown[spec.table] = _own_shown(target, options.ref)
    landing, batches = _pin_files(spec, target, services, full_refresh=options.request.full_refresh)
    pins = Pins(
        run_id,
        inputs,
        landing,
        options.request.full_refresh,
        options.ref,
        shown,
        batches,
        _known_columns(shown, found),
        _given(spec, services, options),
    )
    return pins, target


def pin_for_gates(
    spec: PipelineSpec,
    pins: Pins,
    specs: Specs,
    services: RunServices,
    *,
    ref: str,
    built: Mapping[TableName, UnpublishedInput],
) -> Pins:
    """The pins of a run, and those of what else the gates of `spec` read, as it is now."""
    refs = [
        read
        for read in _tables_read(spec, specs)
        if read.table != spec.table and read.table not in pins.inputs
    ]
    found = _metadata_now({read.table for read in refs} - built.keys(), services)
    _require_known(refs, {*found, *built}, specs, services)
    inputs = {read.table: _input(read.table, found, built, ref) for read in refs}
    shown = {table: _shown(pin, found, built) for table, pin in inputs.items()}
    return replace(
        pins,
        inputs={**pins.inputs, **inputs},
        shown={**pins.shown, **shown},
        columns={**pins.columns, **_known_columns(shown, found)},
    )


def _metadata_now(
    tables: Iterable[TableName], services: RunServices
) -> Mapping[TableName, TableMetadata]:
    catalog = services.ports.catalog
    return catalog.metadata(catalog.pointers(tuple(tables)).values())


def _pin_files(
    spec: PipelineSpec, target: TargetTable, services: RunServices, *, full_refresh: bool
) -> tuple[Mapping[ZoneKey, ZonePin], tuple[Batch, ...]]:
    """The files of each zone, and the batches to replay if the table is made again from them."""
    landing = pin_zones(spec, services, full_refresh=full_refresh, absent=target.absent)
    empty = [ref for ref in spec.zones if landing[ref.zone, ref.pattern].is_empty]
    require_known_zones(empty, services)
    replayed = full_refresh or target.absent
    batches: tuple[Batch, ...] = ()
    if replayed and not spec.strategy.rebuilds_all:
        each_file = bool(spec.config.one_file_a_run)
        batches = batches_of(landing, record=services.ports.records.run, each_file=each_file)
    require_separate_extracts(spec, landing, batches)
    return landing, batches


def _known_columns(
    shown: Mapping[TableName, tuple[ColumnAlias, ...]],
    found: Mapping[TableName, TableMetadata],
) -> dict[TableName, tuple[str, ...]]:
    columns = {table: _columns(aliases, found.get(table)) for table, aliases in shown.items()}
    return {table: names for table, names in columns.items() if names}


def _target(
    spec: PipelineSpec, metadata: TableMetadata | None, services: RunServices
) -> TargetTable:
    due: Renames = ()
    if metadata and not spec.is_view:
        due = pending_renames(
            [column.name for column in metadata.columns], spec.config.renames, where=spec.file
        )
    last = (
        services.ports.records.runs(table=spec.table, state="success", limit=1)
        if spec.zones
        else ()
    )
    return TargetTable(spec.table, metadata, last[0] if last else None, due)


def _shown(
    pin: InputPin,
    found: Mapping[TableName, TableMetadata],
    built: Mapping[TableName, UnpublishedInput],
) -> tuple[ColumnAlias, ...]:
    return (
        built[pin.table].shown if pin.table in built else found[pin.table].aliases_at(pin.snapshot)
    )


def _columns(shown: tuple[ColumnAlias, ...], metadata: TableMetadata | None) -> tuple[str, ...]:
    """The column names of an input, in the snapshot and now; empty if they are not known."""
    if shown:
        return (*(column.name for column in shown), *(column.of for column in shown))
    return tuple(column.name for column in metadata.columns) if metadata else ()


def _own_shown(target: TargetTable, ref: str) -> tuple[ColumnAlias, ...]:
    """The columns of the pipeline's own table, under the names they will have after this run."""
    if target.metadata is None:
        return ()
    shown = target.metadata.aliases_at(target.base(ref))
    if not target.renames:
        return shown
    shown = shown or tuple(
        ColumnAlias(column.name, column.name) for column in target.metadata.columns
    )
    names = apply_renames([column.name for column in shown], target.renames)
    return tuple(replace(column, name=name) for column, name in zip(shown, names, strict=True))


def _tables_read(spec: PipelineSpec, specs: Specs) -> Iterator[Ref]:
    """The tables behind a pipeline's refs. A view stands for the tables that it reads."""
    for ref in (*spec.refs, *spec.gate_refs):
        view = specs.get(ref.table)
        if view and view.is_view and view.table != spec.table:
            yield from _tables_read(view, specs)
        else:
            yield ref


def _input(
    table: TableName,
    found: Mapping[TableName, TableMetadata],
    built: Mapping[TableName, UnpublishedInput],
    ref: str,
) -> InputPin:
    if table in built:
        return InputPin(table, built[table].snapshot)
    head = found[table].head(ref)
    return InputPin(table, head.id if head else None)


def _require_known(
    refs: Iterable[Ref], known: set[TableName], specs: Specs, services: RunServices
) -> None:
    for ref in refs:
        if ref.table in known:
            continue
        if ref.table in specs:
            what, advice = (
                f"the table {ref.table} does not exist yet.",
                f"Run its pipeline first: lakebed run -s +{ref.table}",
            )
        else:
            names = [
                str(table)
                for table in (*services.ports.catalog.pointers(), *specs)
                if not table.hidden
            ]
            close = near(str(ref.table), names) or near(ref.text, names)
            what, advice = f"there is no table {ref.text!r} to ref.", suggestion(close)
        raise BadPipeline(what, where=ref.where, line=ref.line, next=advice)


def require_known_refs(tables: Sequence[TableName], specs: Specs, services: RunServices) -> None:
    """Raise if one of these pipelines reads a zone that does not exist, or a table that nothing
    makes.
    """
    require_known_zones([ref for table in tables for ref in specs[table].zones], services)
    refs = [ref for table in tables for ref in (*specs[table].refs, *specs[table].gate_refs)]
    wanted = {ref.table for ref in refs} - specs.keys()
    _require_known(
        refs,
        {*specs, *services.ports.catalog.pointers(wanted)} if wanted else set(specs),
        specs,
        services,
    )


def _require_no_lost_history(spec: PipelineSpec) -> None:
    """Raise if a full refresh would lose history: old snapshots of inputs expire, so it could not
    be rebuilt from them.
    """
    inputs = sorted({str(ref.table) for ref in spec.refs if ref.table != spec.table})
    if inputs and spec.strategy.history:
        raise UsageError(
            f"a full refresh would lose history: {spec.strategy.strategy} records earlier versions"
            f" of {', '.join(inputs)}, which cannot be read again.",
            where=str(spec.table),
            safe="The table is unchanged.",
            next=(
                "Run it without --full-refresh; or, to start over, drop the table first: lakebed"
                f" table drop {spec.table}"
            ),
        )


def _given(spec: PipelineSpec, services: RunServices, options: RunOptions) -> str:
    """A digest of the variables and of the zones' settings."""
    if not spec.zones:
        return ""
    zones = {
        # what becomes of replaced files does not change how files are read
        str(zone): read_zone_spec(services.ports.files, zone).model_dump(
            mode="json", exclude={"replaced"}
        )
        for zone in spec.zone_names
    }
    return sha256(
        json.dumps([options.request.vars, zones], sort_keys=True, default=str).encode()
    ).hexdigest()
