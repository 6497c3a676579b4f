"""Checks before a pipeline is released: its templates, its SQL, and the names in its settings.

Starts no JVM.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lakebed.errors import BadPipeline, near, raise_all, suggestion
from lakebed.landing import read_zone_spec
from lakebed.names import CATALOG, TableName
from lakebed.pipelines.definition.graph import GraphNode, untangle
from lakebed.pipelines.definition.load import content_digest, list_folders, read_folder
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.lineage.lineage import Schemas, unpinned
from lakebed.pipelines.planning.compile import zone_view
from lakebed.pipelines.planning.pin_zones import require_known_zones
from lakebed.pipelines.planning.sql_check import (
    at_its_test,
    columns_ahead,
    columns_with,
    registered_functions,
    require_named_columns,
)
from lakebed.pipelines.releases.load import draft_tables, load_released
from lakebed.pipelines.services import RunServices
from lakebed.sql import CheckedQuery, check_query, refuse_bare_count
from lakebed.templates import RANGE, STAND_IN, TemplateValues, render

_PYTHON = "pipeline.py"


def check_release(spec: PipelineSpec, services: RunServices, *, vars: Mapping[str, Any]) -> None:
    """Raise, with the line, for what would fail in a run, as far as that can be known without
    running it.
    """
    _require_known_refs(spec, services)
    require_known_zones(spec.zones, services)
    require_no_cycle(spec, services)
    known = _known(spec, services)
    for values in _template_values(spec, vars):
        sql = spec.kind == "sql"
        query = known.checked(spec.source, values, where=spec.file) if sql else None
        if query:
            require_named_columns(spec, query.columns, known.present)
        _check_gates(spec, values, known.after(spec, query))


def known_columns(specs: list[PipelineSpec], services: RunServices) -> Schemas:
    """The columns of all tables and zones that are read, as far as known without reading files."""
    catalog = services.ports.catalog
    tables = {table for spec in specs for table in (spec.table, *spec.inputs)}
    found = catalog.metadata(catalog.pointers(tables).values())
    zones = {
        zone: read_zone_spec(services.ports.files, zone).expected_schema
        for spec in specs
        for zone in spec.zone_names
    }
    known = {
        str(table): {column.name: column.type for column in metadata.columns}
        for table, metadata in found.items()
    }
    return known | {str(zone): dict(columns) for zone, columns in zones.items() if columns}


def columns_of_draft(
    spec: PipelineSpec,
    services: RunServices,
    *,
    vars: Mapping[str, Any],
    ahead: Mapping[TableName, tuple[str, ...] | None],
) -> tuple[str, ...] | None:
    """The columns that a first run of a SQL pipeline would make, after the pipelines `ahead` have
    run; None if they cannot be known.
    """
    schemas = known_columns([spec], services)
    present = {table: tuple(schemas.get(str(table), ())) for table in spec.inputs}
    columns = {_in_sql(table): names for table, names in columns_ahead(present, ahead).items()}
    rendered = render(spec.source, unpinned(spec, vars), where=spec.file)
    known = columns | _zone_columns(spec, schemas)
    query = check_query(
        rendered.text,
        where=spec.file,
        columns={name: names for name, names in known.items() if names},
    )
    return columns_with(spec, query, ())


def require_no_cycle(spec: PipelineSpec, services: RunServices) -> None:
    """Raise if this release would make released pipelines read each other in a cycle: none of them
    could run.
    """
    others = load_released(services.ports.files, services.ports.releases).specs
    nodes = [
        GraphNode(one.table, one.inputs, one.gate_inputs, path=one.folder)
        for one in (others | {spec.table: spec}).values()
    ]
    raise_all(untangle(nodes).impossible.values())


def _require_known_refs(spec: PipelineSpec, services: RunServices) -> None:
    """Raise for a ref to a table that neither exists nor is made by a pipeline.

    Other drafts may be invalid meanwhile.
    """
    known = {
        *draft_tables(services.ports.files),
        *services.ports.releases.newest(),
        *services.ports.catalog.pointers(),
    }
    names = [str(table) for table in known if not table.hidden]
    for ref in (*spec.refs, *spec.gate_refs):
        if ref.table not in known:
            advice = suggestion(near(str(ref.table), names) or near(ref.text, names))
            raise BadPipeline(
                f"there is no table {ref.text!r} to ref.",
                where=ref.where,
                line=ref.line,
                next=advice,
            )


def _template_values(spec: PipelineSpec, vars: Mapping[str, Any]) -> Iterator[TemplateValues]:
    """Template values for a first run, and for a later one; before them for a backfill, if the
    pipeline can have one.
    """
    first = unpinned(spec, vars)
    if spec.names & RANGE:
        yield first
        first = replace(first, batch_start=None, batch_end=None)
        if _needs_range(spec, first):
            return
    yield first
    if spec.strategy.accepts_partial_batches:
        yield replace(
            first, is_incremental=True, watermark_value=STAND_IN.text, watermark=STAND_IN.literal
        )


def _needs_range(spec: PipelineSpec, values: TemplateValues) -> bool:
    """Whether the query has no text without a range: such a pipeline is only ever backfilled."""
    try:
        _ = render(spec.source, values, where=spec.file) if spec.kind == "sql" else None
    except BadPipeline as error:
        return any(error.what.startswith(f"{name} has no value") for name in RANGE)
    return False


@dataclass(frozen=True)
class _Known:
    """What is known without Spark."""

    # of zones, and of inputs that are up to date, by their names in the SQL
    columns: Mapping[str, tuple[str, ...]]
    present: tuple[str, ...]  # columns of the table itself
    functions: Collection[str] | None

    def checked(self, source: str, values: TemplateValues, *, where: str) -> CheckedQuery:
        """The query of a template; raises if it could not run."""
        rendered = render(source, values, where=where)
        allowed = [
            *values.refs.values(),
            *values.zones.values(),
            *([values.this] if values.this else []),
        ]
        return check_query(
            rendered.text,
            where=where,
            allowed=allowed,
            line_of=rendered.source_line,
            functions=self.functions,
            columns=self.columns,
        )

    def after(self, spec: PipelineSpec, query: CheckedQuery | None) -> "_Known":
        """What is known once the query has made the table."""
        own, found = _in_sql(spec.table), columns_with(spec, query, self.present)
        known = {name: names for name, names in self.columns.items() if name != own}
        return replace(self, columns=known | ({own: found} if found else {}))


def _known(spec: PipelineSpec, services: RunServices) -> _Known:
    schemas, store = known_columns([spec], services), services.ports.files
    folders = list_folders(store)
    python = (
        store.read(f"{folder}/{_PYTHON}").decode(errors="replace")
        for folder in folders
        if _PYTHON in folders[folder]
    )
    columns = {
        _in_sql(table): tuple(schemas.get(str(table), ())) for table in _settled(spec, services)
    }
    columns |= _zone_columns(spec, schemas)
    return _Known(
        {name: names for name, names in columns.items() if names},
        tuple(schemas.get(str(spec.table), ())),
        registered_functions(python, own_spark=services.engines.own_spark),
    )


def _zone_columns(spec: PipelineSpec, schemas: Schemas) -> dict[str, tuple[str, ...]]:
    """The columns of the zones that a pipeline reads, by their names in the SQL."""
    return {
        zone_view(ref.zone, ref.pattern): tuple(schemas.get(str(ref.zone), ()))
        for ref in spec.zones
    }


def _in_sql(table: TableName) -> str:
    return ".".join((CATALOG, *table.parts))


def _settled(spec: PipelineSpec, services: RunServices) -> Iterator[TableName]:
    """The inputs whose columns will not change: no pipeline makes them, or it has not changed since
    it ran.
    """
    newest, last, store = (
        services.ports.releases.newest(),
        services.ports.records.last_digests(),
        services.ports.files,
    )
    for table in spec.inputs:
        draft = read_folder(store, table.pipeline_folder)
        makers = {content_digest(draft)} if draft else set()
        makers |= {newest[table].digest} if table in newest else set()
        if makers <= {last.get(table)}:
            yield table


def _check_gates(spec: PipelineSpec, values: TemplateValues, known: _Known) -> None:
    refs = {ref.text: ref.table.spark for ref in spec.gate_refs}
    for gate in spec.gates:
        with at_its_test(spec, gate):
            query = known.checked(
                gate.source, replace(values, refs=refs, zones={}), where=gate.where
            )
            refuse_bare_count(query, where=gate.where)
