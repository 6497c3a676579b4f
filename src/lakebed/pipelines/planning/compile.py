"""From a pipeline's template and pins to the SQL that runs.

Pure, except that templates render in a process of their own.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zlib import crc32

from lakebed.names import CATALOG, TableName, ZoneName, spark_identifier
from lakebed.pipelines.definition.spec import PipelineSpec, Ref
from lakebed.pipelines.planning.pin_inputs import Specs, UnpublishedInput
from lakebed.pipelines.planning.pins import Pins, TargetTable
from lakebed.quality import Gate
from lakebed.sql import CheckedQuery, check_query, refuse_bare_count
from lakebed.tables import at_snapshot, projection, template_answers
from lakebed.templates import Rendered, SqlValue, TemplateValues, render


@dataclass(frozen=True)
class CompiledQuery:
    """A query ready to run, with the map from its lines back to the source's."""

    query: CheckedQuery
    rendered: Rendered
    where: str

    @property
    def text(self) -> str:
        return self.query.text


@dataclass(frozen=True)
class TemplateContext:
    """Everything that the templates of one run can use."""

    spec: PipelineSpec
    specs: Specs
    pins: Pins
    target: TargetTable
    built: Mapping[TableName, UnpublishedInput]
    watermark: SqlValue | None
    started_at: datetime  # when the build started, in the lake's time zone
    vars: Mapping[str, Any]
    part: int = 0  # the number of the batch; 0 if all files are one batch
    functions: Collection[str] | None = None  # functions besides Spark's own; None: any are allowed

    def view(self, zone: ZoneName, pattern: str | None) -> str:
        """The view of a zone's files in the Spark session. Each batch has its own."""
        return zone_view(zone, pattern) + (f"_part_{self.part}" if self.part else "")

    @property
    def is_incremental(self) -> bool:
        """Whether the query may return only new rows: the table has rows, and the strategy keeps
        those that are not returned.
        """
        if (
            self.pins.full_refresh
            or not self.spec.strategy.accepts_partial_batches
            or not self.target.rows(self.pins.ref)
        ):
            return False
        return self.spec.config.watermark_column is None or self.watermark is not None

    @property
    def this(self) -> str | None:
        """The pipeline's own table as a FROM item, its columns under the names they will have after
        this run.
        """
        if self.target.absent:
            return None
        found = at_snapshot(self.spec.table, self.target.base(self.pins.ref))
        return projection(found, self.pins.shown.get(self.spec.table, ()))

    @property
    def own(self) -> str:
        """The name that `this` reads, with its version if it has one."""
        base = self.target.base(self.pins.ref)
        return self.spec.table.spark if base is None else at_snapshot(self.spec.table, base)


def zone_view(zone: ZoneName, pattern: str | None) -> str:
    """The name of the view of a zone's frozen files."""
    part = "" if pattern is None else f"_{crc32(pattern.encode()):08x}"
    return f"zone_{zone.namespace}_{zone.name}{part}"


def compile_query(context: TemplateContext, *, of: PipelineSpec | None = None) -> CompiledQuery:
    """The pipeline's query over its pins, or the query `of` a view that it reads."""
    spec = of or context.spec
    values = _values(context, spec, spec.refs, this=context.this if of is None else None)
    return _compiled(context, spec, spec.source, values, where=spec.file)


def compile_gate(
    context: TemplateContext, gate: Gate, *, this: str, of: str | None = None
) -> CompiledQuery:
    """A gate's query about `this`. If `this` is itself a query, `of` is the table that it reads."""
    values = _values(context, context.spec, context.spec.gate_refs, this=this)
    compiled = _compiled(context, context.spec, gate.source, values, where=gate.where, of=of)
    refuse_bare_count(compiled.query, where=gate.where)
    return compiled


def compile_view(context: TemplateContext) -> CompiledQuery:
    """The query of a catalog view, which always reads what is published."""
    spec, context = context.spec, replace(context, built={})
    refs = {ref.text: ref.table.spark for ref in spec.refs}
    return _compiled(
        context,
        spec,
        spec.source,
        replace(_values(context, spec, (), this=None), refs=refs),
        where=spec.file,
    )


def _compiled(
    context: TemplateContext,
    spec: PipelineSpec,
    source: str,
    values: TemplateValues,
    *,
    where: str,
    of: str | None = None,
) -> CompiledQuery:
    rendered = render(source, values, where=where)
    tables = (
        _source(table, context).spark
        for table in (*context.pins.inputs, *(ref.table for ref in spec.refs))
    )
    own = (context.own,) if values.this and values.this == context.this else ()
    allowed = [
        *tables,
        *own,
        *values.zones.values(),
        *(given for given in (values.this, of) if given),
    ]
    known = {
        ".".join((CATALOG, *_source(table, context).parts)): names
        for table, names in context.pins.columns.items()
    }
    known |= {
        context.view(*key): pin.columns for key, pin in context.pins.landing.items() if pin.columns
    }
    query = check_query(
        rendered.text,
        where=where,
        allowed=allowed,
        line_of=rendered.source_line,
        functions=context.functions,
        columns=known,
    )
    return CompiledQuery(query, rendered, where)


def _values(
    context: TemplateContext, spec: PipelineSpec, refs: Iterable[Ref], *, this: str | None
) -> TemplateValues:
    incremental = context.is_incremental and spec is context.spec
    mark = context.watermark if incremental else None
    chunk = context.pins.chunk if spec is context.spec else None
    return TemplateValues(
        refs={ref.text: relation(ref.table, context) for ref in refs},
        zones={
            (ref.text, ref.pattern): spark_identifier(context.view(ref.zone, ref.pattern))
            for ref in spec.zones
        },
        this=this,
        is_incremental=incremental,
        answers=template_answers(spec.config.merge_strategy),
        watermark_value=mark.text if mark else None,
        watermark=mark.literal if mark else None,
        run_started_at=context.started_at.isoformat(" "),
        vars=context.vars,
        config=spec.config.model_dump(mode="json"),
        batch_start=chunk.start.literal if chunk else None,
        batch_end=chunk.end.literal if chunk else None,
    )


def relation(table: TableName, context: TemplateContext) -> str:
    """The FROM item for a ref: the pinned table, or a view's query over the same pins."""
    view = context.specs.get(table)
    if view and view.is_view:
        return f"({compile_query(context, of=view).text}\n)"
    if table == context.spec.table:
        return context.this or table.spark
    return projection(
        at_snapshot(_source(table, context), context.pins.inputs[table].snapshot),
        context.pins.shown.get(table, ()),
    )


def _source(table: TableName, context: TemplateContext) -> TableName:
    """The table to read the rows from: a hidden one if the table is not published yet."""
    return context.built[table].source if table in context.built else table
