"""Changes by hand, wired: rows or a statement, to one table, through the machinery of runs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lakebed.errors import UsageError
from lakebed.names import TableName
from lakebed.pipelines import (
    Build,
    ManualChange,
    Pipelines,
    RunOptions,
    WriteOptions,
    alter_manually,
    apply_manual_change,
    keys_given,
    manual_spec,
)
from lakebed.ports import Events, RunRecord
from lakebed.sql import read_change


def write_rows(pipelines: Pipelines, table: TableName, frame: Any, manner: WriteOptions, *, gates: bool) -> RunRecord:
    """Bring rows into a table, which is made if there is none."""
    pipelines.services.placement.require_relocated()
    return _change(pipelines, table, manner, ManualChange(frame=frame), gates=gates)


def execute(pipelines: Pipelines, text: str, *, find: Callable[[str], TableName], events: Events, gates: bool) -> RunRecord:
    """Run one INSERT, UPDATE, DELETE, MERGE or ALTER TABLE."""
    pipelines.services.placement.require_relocated()
    statement = read_change(text)
    parts = statement.target[1:] if len(statement.target) == 4 else statement.target
    table = find(".".join(f"`{part}`" if "." in part else part for part in parts))
    if statement.kind == "alter":
        build = Build({}, pipelines.services, RunOptions())
        return alter_manually(build, table, statement, events)
    return _change(pipelines, table, WriteOptions(), ManualChange(statement=statement), gates=gates)


def _change(pipelines: Pipelines, table: TableName, manner: WriteOptions, hand: ManualChange, *, gates: bool) -> RunRecord:
    specs = pipelines.load().specs
    release = pipelines.services.records.last_digests().get(table, "")
    spec = manual_spec(table, manner, pipeline=specs.get(table) if gates else None, release=release)
    options = RunOptions(manual_change=hand)
    return apply_manual_change(Build(specs, pipelines.services, options), spec)


def write_options(mode: str, key: str | Sequence[str], order: str | None, on_schema_change: str) -> WriteOptions:
    """How rows come in, from what a caller says."""
    return WriteOptions(mode, keys_given(key), order, on_schema_change)


def read_rows(file: Path) -> Any:
    """The rows of a Parquet, CSV or JSON-lines file on this machine, as Arrow has them; those of Parquet are not read yet."""
    import pyarrow.csv
    import pyarrow.dataset
    import pyarrow.json

    readers = {
        ".parquet": pyarrow.dataset.dataset,
        ".csv": pyarrow.csv.read_csv,
        ".json": pyarrow.json.read_json,
        ".ndjson": pyarrow.json.read_json,
    }
    if file.suffix.casefold() not in readers:
        raise UsageError(f"{file.name} is none of {', '.join(readers)}.", next="Land other files in a zone: lakebed zone put")
    try:
        return readers[file.suffix.casefold()](file)
    except (OSError, pyarrow.ArrowException) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
