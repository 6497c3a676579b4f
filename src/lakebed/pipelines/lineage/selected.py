"""The lineage of the selected pipelines, with what their last successful runs read."""

from collections.abc import Collection, Sequence

from lakebed.names import TableName
from lakebed.pipelines.lineage.lineage import ColumnLineage, Lineage, table_lineage, trace_columns
from lakebed.pipelines.loading import load_pipelines
from lakebed.pipelines.releases import known_columns
from lakebed.pipelines.services import RunServices
from lakebed.ports import MAIN, RunRecord, Snapshot
from lakebed.requests import RunRequest

_ALL = 10_000


def lineage_of_selected(request: RunRequest, services: RunServices) -> Lineage:
    """What the selected pipelines read, and the snapshots that their last successful runs saw."""
    loaded = load_pipelines(services, released=request.released)
    tables = loaded.selected(request.select, request.exclude)
    shown = {name for table in tables for name in (table, *loaded.specs[table].inputs)}
    return table_lineage(loaded.specs, tables, _last_successes(shown, services))


def columns_of_selected(request: RunRequest, services: RunServices) -> tuple[ColumnLineage, ...]:
    """The columns that each column comes from.

    Python cannot be traced: raises if nothing else is selected.
    """
    loaded = load_pipelines(services, released=request.released)
    specs = [loaded.specs[table] for table in loaded.selected(request.select, request.exclude)]
    traceable = [spec for spec in specs if spec.kind == "sql"] or specs
    last = _last_successes([spec.table for spec in traceable], services)
    schemas = known_columns(traceable, services)
    return tuple(
        trace_columns(spec, schemas, vars=request.vars, run=last.get(spec.table))
        for spec in traceable
    )


def _last_successes(
    tables: Collection[TableName], services: RunServices
) -> dict[TableName, RunRecord]:
    """The newest successful run of each table that did something and was not undone."""
    catalog, records = services.ports.catalog, services.ports.records
    present = catalog.metadata(catalog.pointers(tables).values())
    pasts = {
        table: tuple(metadata.ancestry(head.id))
        for table, metadata in present.items()
        if (head := metadata.head(MAIN))
    }
    return {
        record.table: record
        for record in reversed(records.runs(state="success", limit=_ALL))
        if record.phases and not _is_undone(record, pasts.get(record.table, ()))
    }


def _is_undone(record: RunRecord, past: Sequence[Snapshot]) -> bool:
    """Whether a rollback went behind the run. Runs that began before the oldest snapshot that is
    kept cannot be told apart: they count as not undone.
    """
    left = record.snapshot or record.base
    if left is None or not past or any(snapshot.id == left for snapshot in past):
        return False
    return record.started_at > past[-1].at
