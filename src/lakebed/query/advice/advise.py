"""Reads the query log and the manifests of its tables, and advises on layouts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lakebed.derived import LayoutSpec, find_layouts
from lakebed.derived.checks import DeclaredLayouts, complete_spec
from lakebed.errors import BadName, LakebedError
from lakebed.names import TableName
from lakebed.ports import Pointer, TableMetadata
from lakebed.query.advice.advice import AdviceReport, LayoutAdvice, ThinLog, judged, proposed
from lakebed.query.advice.gather import AdvisedTable, Gathering, declared_only
from lakebed.query.advice.judge import judge
from lakebed.query.advice.propose import propose
from lakebed.query.advice.sample import read_sample
from lakebed.query.advice.workload import LogCoverage, LoggedQuery, TableWorkload, workloads
from lakebed.query.engine import TableReader
from lakebed.query.planning.pin import pin_table
from lakebed.query.planning.planner import QueryContext

_NONE = TableWorkload({}, {})


@dataclass(frozen=True)
class AdviceServices:
    """What advice is founded on."""

    context: QueryContext
    queries: Iterable[LoggedQuery]  # of the log
    reader: TableReader
    declared: Mapping[TableName, DeclaredLayouts]  # by the pipelines of tables
    folder: str  # of the log


def advise(services: AdviceServices, table: TableName | None = None) -> AdviceReport:
    """Advice on one table, or on all that queries of the log have read or that have layouts."""
    found, coverage = workloads(services.queries)
    asked = [str(table)] if table else sorted(found)
    advice: list[LayoutAdvice] = []
    unknown: list[str] = []
    for name in asked:
        try:
            advice += _table_advice(services, name, found.get(name, _NONE), coverage)
        except LakebedError:
            unknown.append(name)
    seen = {name: found.get(name, _NONE) for name in asked if name not in unknown}
    thin = (ThinLog(name, one.reads, one.days) for name, one in seen.items() if one.is_thin)
    return AdviceReport(
        coverage, services.folder, tuple(advice), tuple(thin), len(asked), tuple(unknown)
    )


def _table_advice(
    services: AdviceServices, name: str, workload: TableWorkload, coverage: LogCoverage
) -> list[LayoutAdvice]:
    pointer, metadata = _look_up(services.context, name)
    declared = services.declared.get(pointer.table)
    table = _advised(services, pointer, metadata, workload, declared)
    gathering = Gathering(table, services.context.ports.scans)
    figures = gathering.figures()
    present = [
        *(gathering.present(layout, coverage.since) for layout in table.layouts),
        *declared_only(declared.specs if declared else (), table.layouts, metadata),
    ]
    stored = sum(one.bytes for one in present)
    taken = [one.name for one in present]
    proposals = () if workload.is_thin else propose(figures)
    against = [found for one in present if (found := judge(one, workload))]
    return [
        *(proposed(one, figures, taken=taken, stored=stored) for one in proposals),
        *(judged(one, figures, stored=stored) for one in against),
    ]


def _look_up(context: QueryContext, name: str) -> tuple[Pointer, TableMetadata]:
    try:
        table = TableName.parse(name)
        pointer = context.ports.catalog.pointers([table])[table]
    except (BadName, KeyError):
        raise LakebedError(f"there is no table {name} any more.") from None
    return pointer, context.metadata([pointer])[table]


def _advised(
    services: AdviceServices,
    pointer: Pointer,
    metadata: TableMetadata,
    workload: TableWorkload,
    declared: DeclaredLayouts | None,
) -> AdvisedTable:
    context = services.context
    pinned = pin_table(pointer, metadata, None, timezone=context.timezone)
    scan = context.ports.scans.plan(pointer, snapshot=pinned.snapshot_id, schema=pinned.schema)
    asked = {name for pattern in workload.patterns for name, _ in pattern.conditions}
    names = [column.name for column in pinned.columns if column.name.casefold() in asked]
    rows = read_sample(pinned, scan, names, services.reader) if names else []
    batch = complete_spec(
        LayoutSpec(sort_by=("any",)),
        metadata,
        batch_columns=declared.batch_columns if declared else (),
    ).batch_columns
    layouts = find_layouts(metadata, context.ports.catalog, metadata=context.metadata)
    return AdvisedTable(
        pinned, workload, scan, rows, layouts, batch, declared.key if declared else ""
    )
