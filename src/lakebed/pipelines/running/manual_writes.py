"""Manual changes to one table: rows or a statement, published like a run."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lakebed.names import TableName
from lakebed.pipelines.loading import load_pipelines
from lakebed.pipelines.options import ManualChange, RunOptions
from lakebed.pipelines.running.begin import logger_of
from lakebed.pipelines.running.builds.build_request import Build
from lakebed.pipelines.running.manual import (
    WriteOptions,
    alter_manually,
    apply_manual_change,
    manual_spec,
)
from lakebed.pipelines.running.steps.layouts import layout_notes
from lakebed.pipelines.services import RunServices
from lakebed.ports import RunRecord
from lakebed.sql import read_change
from lakebed.tables.operations.naming import shown_name


def write_rows(
    services: RunServices,
    table: TableName,
    frame: Any,
    options: WriteOptions,
    *,
    gates: bool = True,
) -> RunRecord:
    """Write rows into a table, which is created if it does not exist."""
    services.placement.require_relocated(table)
    return apply_change(services, table, options, ManualChange(frame=frame), gates=gates)


def execute_statement(
    services: RunServices,
    text: str,
    *,
    find: Callable[[str], TableName],
    gates: bool = True,
) -> RunRecord:
    """Run one INSERT, UPDATE, DELETE, MERGE or ALTER TABLE; `BadName` if its table is hidden."""
    statement = read_change(text)
    # without the catalog's name
    parts = statement.target[1:] if len(statement.target) == 4 else statement.target
    table = shown_name(find(".".join(f"`{part}`" if "." in part else part for part in parts)))
    services.placement.require_relocated(table)
    if statement.kind == "alter":
        record = alter_manually(Build({}, services, RunOptions()), table, statement)
        notes = (
            layout_notes(services, table, None, logger_of("", None))
            if services.builds_layouts
            else []
        )
        return replace(record, message="; ".join((record.message, *notes)))
    return apply_change(
        services, table, WriteOptions(), ManualChange(statement=statement), gates=gates
    )


def apply_change(
    services: RunServices,
    table: TableName,
    options: WriteOptions,
    change: ManualChange,
    *,
    gates: bool,
) -> RunRecord:
    """Publish a change like a run, once the gates of the table's pipeline pass."""
    loaded = load_pipelines(services)
    if gates and table in loaded.unavailable:  # its gates, or its contract, are not known
        raise loaded.unavailable[table]
    specs = loaded.specs
    digest = services.ports.records.last_digests().get(table, "")
    spec = manual_spec(table, options, pipeline=specs.get(table) if gates else None, release=digest)
    return apply_manual_change(Build(specs, services, RunOptions(manual_change=change)), spec)
