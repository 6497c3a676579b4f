"""The lineage of the selected pipelines, with what their last successful runs read."""

from lakebed.names import TableName
from lakebed.pipelines.lineage.lineage import ColumnLineage, Lineage, table_lineage, trace_columns
from lakebed.pipelines.loading import load_pipelines
from lakebed.pipelines.releases import known_columns
from lakebed.pipelines.services import RunServices
from lakebed.ports import RunRecord
from lakebed.requests import RunRequest

_ALL = 10_000


def lineage_of_selected(request: RunRequest, services: RunServices) -> Lineage:
    """What the selected pipelines read, and the snapshots that their last successful runs saw."""
    loaded = load_pipelines(services, released=request.released)
    tables = loaded.selected(request.select, request.exclude)
    return table_lineage(loaded.specs, tables, _last_successes(services))


def columns_of_selected(request: RunRequest, services: RunServices) -> tuple[ColumnLineage, ...]:
    """The columns that each column comes from.

    Python cannot be traced: raises if nothing else is selected.
    """
    loaded = load_pipelines(services, released=request.released)
    specs = [loaded.specs[table] for table in loaded.selected(request.select, request.exclude)]
    traceable = [spec for spec in specs if spec.kind == "sql"] or specs
    last, schemas = _last_successes(services), known_columns(traceable, services)
    return tuple(
        trace_columns(spec, schemas, vars=request.vars, run=last.get(spec.table))
        for spec in traceable
    )


def _last_successes(services: RunServices) -> dict[TableName, RunRecord]:
    """The newest successful run of each table that did something."""
    runs = services.ports.records.runs(state="success", limit=_ALL)
    return {record.table: record for record in reversed(runs) if record.phases}
