"""Checks before a pipeline is released: its templates, its SQL, and the names in its settings.

Starts no JVM.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lakebed.errors import BadPipeline, near, suggestion
from lakebed.landing import read_zone_spec
from lakebed.names import CATALOG, TableName
from lakebed.pipelines.definition.graph import GraphNode, build_graph
from lakebed.pipelines.definition.load import content_digest, list_folders, read_folder
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.lineage.lineage import Schemas, logical_names, unpinned
from lakebed.pipelines.planning.pin_zones import require_known_zones
from lakebed.pipelines.planning.sql_check import added_columns, registered_functions
from lakebed.pipelines.releases.load import draft_tables, load_released
from lakebed.pipelines.services import RunServices
from lakebed.settings import Document
from lakebed.sql import CheckedQuery, check_query, column_lineage, refuse_bare_count
from lakebed.templates import RANGE, STAND_IN, TemplateValues, read_annotations, render

_PYTHON = "pipeline.py"
_ORDERING = re.compile(r"\s+(asc|desc|nulls\s+(first|last))\b", re.IGNORECASE)
_CALL = re.compile(r"\w+\(\s*(?:\d+\s*,\s*)?([^,()]+?)\s*(?:,\s*\d+\s*)?\)")
Texts = Mapping[str, str]


def check_release(
    spec: PipelineSpec, texts: Texts, services: RunServices, *, vars: Mapping[str, Any]
) -> None:
    """Raise, with the line, for what would fail in a run, as far as that can be known without
    running it.
    """
    _require_known_refs(spec, services)
    require_known_zones(spec.zones, services)
    require_no_cycle(spec, services)
    known = _known(spec, services)
    for values in _template_values(spec, vars):
        _check_gates(spec, values, known)
        if spec.kind == "sql":
            _check_columns(spec, texts, _columns(spec, values, known))


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


def require_no_cycle(spec: PipelineSpec, services: RunServices) -> None:
    """Raise if this release would make released pipelines read each other in a cycle: none of them
    could run.
    """
    others = load_released(services.ports.files, services.ports.releases).specs
    build_graph(
        [
            GraphNode(one.table, one.inputs, path=one.folder)
            for one in (others | {spec.table: spec}).values()
        ]
    )


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

    schemas: Schemas  # of existing tables and zones
    columns: Mapping[
        str, tuple[str, ...]
    ]  # of inputs that are up to date, by their names in the SQL
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


def _known(spec: PipelineSpec, services: RunServices) -> _Known:
    schemas, store = known_columns([spec], services), services.ports.files
    folders = list_folders(store)
    python = (
        store.read(f"{folder}/{_PYTHON}").decode(errors="replace")
        for folder in folders
        if _PYTHON in folders[folder]
    )
    columns = {
        ".".join((CATALOG, *table.parts)): tuple(schemas.get(str(table), ()))
        for table in _settled(spec, services)
    }
    return _Known(
        schemas,
        {name: names for name, names in columns.items() if names},
        registered_functions(python, own_spark=services.engines.own_spark),
    )


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


def _columns(spec: PipelineSpec, values: TemplateValues, known: _Known) -> tuple[str, ...]:
    """The columns that the query returns; empty if they cannot be known."""
    query = known.checked(spec.source, values, where=spec.file)
    found = column_lineage(query.text, known.schemas, logical=logical_names(spec))
    return () if "*" in found else tuple(found)


def _check_gates(spec: PipelineSpec, values: TemplateValues, known: _Known) -> None:
    refs = {ref.text: ref.table.spark for ref in spec.gate_refs}
    for gate in spec.gates:
        query = known.checked(gate.source, replace(values, refs=refs, zones={}), where=gate.where)
        refuse_bare_count(query, where=gate.where)


@dataclass(frozen=True)
class _Named:
    setting: str
    column: str


def _check_columns(spec: PipelineSpec, texts: Texts, columns: tuple[str, ...]) -> None:
    known = [*columns, *added_columns(spec)]
    folded = {name.casefold() for name in known}
    for named in _named(spec) if columns else ():
        if not {named.column.casefold(), named.column.partition(".")[0].casefold()} & folded:
            where, line, excerpt = _place(spec, texts, named)
            what = (
                f"{named.setting} names {named.column!r}, which is not among the columns of the"
                " query."
            )
            raise BadPipeline(
                what,
                where=where,
                line=line,
                excerpt=excerpt,
                next=suggestion(near(named.column, known)),
            )


def _named(spec: PipelineSpec) -> Iterator[_Named]:
    config = spec.config
    yield from (_Named("unique_key", name) for name in config.unique_key)
    for setting in ("watermark_column", "partition_column", "batch_column"):
        if name := getattr(config, setting):
            yield _Named(setting, name)
    yield from (_Named("partition_by", field.column) for field in config.partition_by)
    yield from (_Named("sort_by", _sorted_column(text)) for text in config.sort_by)
    yield from (_Named("columns", name) for name in config.columns)


def _sorted_column(text: str) -> str:
    """`at` of `at DESC` and of `days(at)`."""
    bare = _ORDERING.sub("", text).strip()
    call = _CALL.fullmatch(bare)
    return (call[1] if call else bare).strip("`")


def _place(spec: PipelineSpec, texts: Texts, named: _Named) -> tuple[str, int | None, str]:
    """Where a setting is: in an annotation of the source, or in config.yaml."""
    given = read_annotations(spec.source, comment="--", where=spec.file).get(named.setting)
    if given:
        return spec.file, given.line, f"@{named.setting}: {given.value}"
    where = f"{spec.folder}/config.yaml"
    document = Document(texts.get("config.yaml", ""), where=where, refusal=BadPipeline)
    return where, *document.find((named.setting, named.column))
