"""Where tables and columns come from, with the snapshots that the last runs read."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from lakebed.errors import UsageError
from lakebed.names import CATALOG, TableName, spark_identifier
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.compile import zone_view
from lakebed.ports import RunRecord
from lakebed.sql import ColumnSource, check_query, column_lineage
from lakebed.tables import template_answers
from lakebed.templates import RANGE, STAND_IN, TemplateValues, render

Specs = Mapping[TableName, PipelineSpec]
Kind = Literal["zone", "table", "view", "source"]
Through = Literal["query", "gate"]
Schemas = Mapping[str, Mapping[str, str]]  # table → column → type


@dataclass(frozen=True)
class LineageNode:
    """A zone, a pipeline's table or view, or a table that no pipeline makes."""

    name: str
    kind: Kind
    snapshot: int | None = None  # what its last successful run published
    run: str | None = None


@dataclass(frozen=True)
class LineageEdge:
    """`target` reads `source`, in its query or only in a gate.

    With what its last successful run read.
    """

    source: str
    target: str
    through: Through = "query"
    snapshot: int | None = None
    files: int | None = None


@dataclass(frozen=True)
class Lineage:
    """Tables and zones, and which reads which. Sources come before their readers."""

    nodes: tuple[LineageNode, ...]
    edges: tuple[LineageEdge, ...]


@dataclass(frozen=True)
class ColumnLineage:
    """The columns that each column of a pipeline comes from; `None` where that cannot be known."""

    table: TableName
    columns: Mapping[str, tuple[ColumnSource, ...] | None]
    run: str | None = None  # the last successful one, and what it read and made
    snapshot: int | None = None
    inputs: Mapping[str, int | None] | None = None


def table_lineage(
    specs: Specs, tables: Iterable[TableName], last: Mapping[TableName, RunRecord]
) -> Lineage:
    """What these pipelines read. `last` are their newest successful runs."""
    nodes: dict[str, LineageNode] = {}
    edges: list[LineageEdge] = []
    for table in tables:
        spec, run = specs[table], last.get(table)
        for edge, node in (*_from_zones(spec, run), *_from_tables(spec, specs, last)):
            edges.append(edge)
            nodes.setdefault(node.name, node)
        nodes.setdefault(str(table), _node(table, specs, last))
    return Lineage(tuple(nodes.values()), tuple(edges))


def _from_zones(
    spec: PipelineSpec, run: RunRecord | None
) -> Iterator[tuple[LineageEdge, LineageNode]]:
    for zone in map(str, spec.zone_names):
        yield (
            LineageEdge(zone, str(spec.table), files=run.files.get(zone) if run else None),
            LineageNode(zone, "zone"),
        )


def _from_tables(
    spec: PipelineSpec, specs: Specs, last: Mapping[TableName, RunRecord]
) -> Iterator[tuple[LineageEdge, LineageNode]]:
    run = last.get(spec.table)
    read = {pin.table: pin.snapshot for pin in run.inputs} if run else {}
    in_query = {ref.table for ref in spec.refs}
    for table in spec.inputs:
        through: Through = "query" if table in in_query else "gate"
        yield (
            LineageEdge(str(table), str(spec.table), through, snapshot=read.get(table)),
            _node(table, specs, last),
        )


def _node(table: TableName, specs: Specs, last: Mapping[TableName, RunRecord]) -> LineageNode:
    spec, run = specs.get(table), last.get(table)
    kind: Kind = "source" if spec is None else "view" if spec.is_view else "table"
    return LineageNode(str(table), kind, _resulting_snapshot(run), run.run_id if run else None)


def _resulting_snapshot(run: RunRecord | None) -> int | None:
    """The snapshot that a run left its table at: the previous one if nothing changed."""
    return (run.snapshot or run.base) if run else None


_SHAPES = {"zone": ("[/", "/]"), "table": ("[", "]"), "view": ("([", "])"), "source": ("[(", ")]")}


def mermaid(lineage: Lineage) -> str:
    """The graph as mermaid text. What only a gate reads is a dotted line."""
    ids = {node.name: f"n{number}" for number, node in enumerate(lineage.nodes)}
    lines = ["flowchart LR"]
    for node in lineage.nodes:
        opening, closing = _SHAPES[node.kind]
        label = node.name.replace('"', "#quot;")
        lines.append(f'  {ids[node.name]}{opening}"{label}"{closing}')
    for edge in lineage.edges:
        arrow = "-->" if edge.through == "query" else "-.->"
        lines.append(f"  {ids[edge.source]} {arrow} {ids[edge.target]}")
    return "\n".join(lines)


def trace_columns(
    spec: PipelineSpec, schemas: Schemas, *, vars: Mapping[str, Any], run: RunRecord | None
) -> ColumnLineage:
    """The columns that a pipeline's columns come from.

    `schemas` has the columns of the tables and zones it reads.
    """
    if spec.kind != "sql":
        kind = "Python pipeline" if spec.kind == "python" else "pipeline without code"
        raise UsageError(f"the columns of a {kind} cannot be traced.", where=spec.file)
    rendered = render(spec.source, unpinned(spec, vars), where=spec.file)
    query = check_query(rendered.text, where=spec.file, line_of=rendered.source_line)
    found = column_lineage(query.text, schemas, logical=logical_names(spec))
    made = (
        (run.run_id, _resulting_snapshot(run), {str(pin.table): pin.snapshot for pin in run.inputs})
        if run
        else ()
    )
    return ColumnLineage(spec.table, found, *made)


def unpinned(spec: PipelineSpec, vars: Mapping[str, Any]) -> TemplateValues:
    """Template values as in a first run, without pins: lineage is about names. A pipeline that uses
    a range has one.
    """
    bound = STAND_IN.literal if spec.names & RANGE else None
    return TemplateValues(
        refs={ref.text: ref.table.spark for ref in spec.refs},
        zones={
            (ref.text, ref.pattern): spark_identifier(zone_view(ref.zone, ref.pattern))
            for ref in spec.zones
        },
        this=spec.table.spark,
        is_incremental=False,
        answers=template_answers(spec.config.merge_strategy),
        watermark_value=None,
        watermark=None,
        run_started_at=datetime.now(UTC).isoformat(" "),
        vars=vars,
        config=spec.config.model_dump(mode="json"),
        batch_start=bound,
        batch_end=bound,
    )


def logical_names(spec: PipelineSpec) -> Callable[[str], str]:
    """Maps names in the query to those of tables and zones."""
    zones = {zone_view(ref.zone, ref.pattern): str(ref.zone) for ref in spec.zones}
    tables = {".".join((CATALOG, *table.parts)): str(table) for table in (spec.table, *spec.inputs)}
    return lambda name: (zones | tables).get(name, name)
