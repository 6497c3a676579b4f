"""Exporting a table to a dataset: rows are always copied, file by file of the table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lakebed.errors import BadBatch, LakebedError, NameTaken, UnknownName
from lakebed.kartothek.exchange.planning import ExportPlan, plan_export, require_same_layout
from lakebed.kartothek.exchange.record import (
    ExportRecord,
    load_record,
    new_record_path,
    record_document,
)
from lakebed.kartothek.exchange.source import TableSource
from lakebed.kartothek.format.column_types import StringProfile
from lakebed.kartothek.format.misread_types import misread_columns
from lakebed.kartothek.format.names import DEFAULT_TABLE
from lakebed.kartothek.format.schemas import schema_text, table_schema
from lakebed.kartothek.format.state import EXPORT, DatasetState
from lakebed.kartothek.reading.states import load_schema, load_state
from lakebed.kartothek.writing.commit import UncommittedFiles, commit, nothing_was_done
from lakebed.kartothek.writing.creating import commit_new, replacing_all
from lakebed.kartothek.writing.options import DatasetOptions
from lakebed.kartothek.writing.partition_files import discard
from lakebed.kartothek.writing.rows import WrittenRows, combined_rows, write_rows
from lakebed.kartothek.writing.scope import ScopeResult
from lakebed.kartothek.writing.update import updated_state
from lakebed.ports.files.files import Files


@dataclass(frozen=True)
class ExportOptions:
    """How a table becomes a dataset; None: as the dataset is, or without."""

    partition_keys: tuple[str, ...] | None = None
    indexed: tuple[str, ...] | None = None
    strings: StringProfile = StringProfile.LARGE_STRING
    anew: bool = False


@dataclass(frozen=True)
class ExportResult:
    """What an export did: how many files of the table it read, and partitions it added and removed.

    `anew` says why all rows were replaced; empty if only changes were written. `warnings` name
    what plateau misreads.
    """

    dataset: str
    table: str
    snapshot: int | None
    files_read: int
    partitions_added: int
    partitions_removed: int
    partitions: int
    anew: str = ""
    warnings: tuple[str, ...] = ()


def export_table(
    files: Files, uuid: str, source: TableSource, options: ExportOptions
) -> ExportResult:
    """Bring a dataset to the table's snapshot in one commit; if it fails, it stays as it was."""
    state = _found(files, uuid)
    record = load_record(files, state) if state is not None else None
    present = source.files()
    layout = _layout(state, options)
    schema = table_schema(_storable(source.schema), layout.partition_keys, strings=layout.strings)
    plan = plan_export(
        state,
        record,
        table_uuid=source.uuid,
        files=present,
        same_schema=state is not None and _same_schema(files, state, schema),
        anew=options.anew,
    )
    if state is None or plan.anew:
        layout = _chosen(options, state)
        schema = table_schema(
            _storable(source.schema), layout.partition_keys, strings=layout.strings
        )
    else:
        require_same_layout(state, options.partition_keys, options.indexed)
    warnings = tuple(misread_columns(schema, layout.partition_keys))
    written = _write(files, uuid, source, layout, present, plan)
    kept = record.files if record is not None and not plan.anew else {}
    labels = {key: kept[key] for key in plan.kept} | {
        key: tuple(part.label for part in rows.partitions) for key, rows in written.items()
    }
    export = ExportRecord(source.table, source.uuid, source.snapshot, labels)
    rows = combined_rows([WrittenRows((), {DEFAULT_TABLE: schema}), *written.values()])
    rows = replace(rows, partition_keys=layout.partition_keys)
    try:
        committed = _commit(files, uuid, state, record, rows, plan, layout, export)
    except LakebedError as error:
        if nothing_was_done(error):
            discard(files, rows.partitions)
        raise
    gone = len(state.partitions) if state is not None and plan.anew else len(plan.removed)
    return ExportResult(
        uuid,
        source.table,
        source.snapshot,
        len(plan.added),
        len(rows.partitions),
        gone,
        len(committed.partitions),
        plan.anew,
        warnings,
    )


def _commit(
    files: Files,
    uuid: str,
    before: DatasetState | None,
    record: ExportRecord | None,
    rows: WrittenRows,
    plan: ExportPlan,
    layout: DatasetOptions,
    export: ExportRecord,
) -> DatasetState:
    path = new_record_path(uuid)
    named = replace(layout, metadata={**layout.metadata, EXPORT: path})
    if before is not None and plan.nothing and record and record.snapshot == export.snapshot:
        return before
    files.create(path, record_document(export))
    try:
        if before is None:
            return commit_new(files, uuid, rows, options=named)
        if plan.anew:
            return commit(files, uuid, replacing_all(files, rows, named))
        return commit(files, uuid, _changing(files, before, rows, plan, layout, path))
    except LakebedError as error:
        if nothing_was_done(error):
            files.delete(path)
        raise


def _changing(
    files: Files,
    before: DatasetState,
    rows: WrittenRows,
    plan: ExportPlan,
    layout: DatasetOptions,
    path: str,
) -> Any:
    def change(state: DatasetState, made: UncommittedFiles) -> DatasetState:
        if state.partitions.keys() != before.partitions.keys():
            raise NameTaken(
                f"the dataset {state.uuid!r} was changed by others during the export.",
                where=state.uuid,
                next="Export again once they are done.",
            )
        return updated_state(
            files,
            state,
            made,
            rows,
            known={DEFAULT_TABLE: load_schema(files, state, DEFAULT_TABLE)},
            scope=ScopeResult(removed=plan.removed),
            indexed=tuple(state.indices),
            metadata={EXPORT: path},
            strings=layout.strings,
        )

    return change


def _write(
    files: Files,
    uuid: str,
    source: TableSource,
    layout: DatasetOptions,
    present: Mapping[str, Any],
    plan: ExportPlan,
) -> dict[str, WrittenRows]:
    """The rows of each added file, as partitions of their own."""
    written: dict[str, WrittenRows] = {}
    try:
        for key in plan.added:
            written[key] = write_rows(files, layout.spec(uuid), source.rows(present[key]))
    except BaseException:
        discard(files, [part for rows in written.values() for part in rows.partitions])
        raise
    return written


def _found(files: Files, uuid: str) -> DatasetState | None:
    try:
        return load_state(files, uuid)
    except UnknownName:
        return None


def _layout(state: DatasetState | None, options: ExportOptions) -> DatasetOptions:
    """The dataset's own layout, or that of a new one."""
    if state is None:
        return _chosen(options, None)
    return DatasetOptions(state.partition_keys, tuple(state.indices), strings=options.strings)


def _chosen(options: ExportOptions, state: DatasetState | None) -> DatasetOptions:
    keys, indexed = options.partition_keys, options.indexed
    own_keys: Sequence[str] = state.partition_keys if state else ()
    own_indices: Sequence[str] = tuple(state.indices) if state else ()
    return DatasetOptions(
        tuple(own_keys if keys is None else keys),
        tuple(own_indices if indexed is None else indexed),
        strings=options.strings,
    )


def _same_schema(files: Files, state: DatasetState, schema: Any) -> bool:
    if state.tables != (DEFAULT_TABLE,):
        return False
    return schema_text(load_schema(files, state, DEFAULT_TABLE)) == schema_text(schema)


def _storable(schema: Any) -> Any:
    """The schema itself; `BadBatch` names a column of a type that datasets do not have."""
    for field in schema:
        if "extension" in str(field.type) or "fixed_size_binary" in str(field.type):
            raise BadBatch(
                f"the column {field.name!r} is of type {field.type}, which plateau cannot read.",
                safe="Nothing was exported.",
                next="Export a table in which it is text.",
            )
    return schema
