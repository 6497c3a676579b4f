"""Exporting a table to a dataset: rows are always copied, file by file of the table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from lakebed.errors import LakebedError, NameTaken, UnknownName
from lakebed.kartothek.exchange.layout import ExportOptions, chosen_layout, storable
from lakebed.kartothek.exchange.planning import ExportPlan, plan_export, require_same_layout
from lakebed.kartothek.exchange.record import (
    ExportRecord,
    load_record,
    new_record_path,
    record_document,
)
from lakebed.kartothek.exchange.source import TableSource
from lakebed.kartothek.exchange.table_rows import WriteFiles
from lakebed.kartothek.format.column_types import is_text
from lakebed.kartothek.format.misread_types import misread_columns
from lakebed.kartothek.format.names import DEFAULT_TABLE
from lakebed.kartothek.format.schemas import schema_text, table_schema
from lakebed.kartothek.format.state import EXPORT, DatasetState
from lakebed.kartothek.reading.states import load_schema, load_state
from lakebed.kartothek.writing.commit import UncommittedFiles, commit, nothing_was_done
from lakebed.kartothek.writing.creating import commit_new, replacing_all
from lakebed.kartothek.writing.options import DatasetOptions
from lakebed.kartothek.writing.partition_files import discard
from lakebed.kartothek.writing.rows import WrittenRows, combined_rows
from lakebed.kartothek.writing.scope import ScopeResult
from lakebed.kartothek.writing.update import updated_state
from lakebed.ports.files.files import Files


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
    files: Files, uuid: str, source: TableSource, options: ExportOptions, *, write: WriteFiles
) -> ExportResult:
    """Bring a dataset to the table's snapshot in one commit; if it fails, it stays as it was."""
    return _Export(files, uuid, source, options, write).run()


class _Export:
    """One export: what the dataset has, what is to be written, and the commit."""

    def __init__(
        self,
        files: Files,
        uuid: str,
        source: TableSource,
        options: ExportOptions,
        write: WriteFiles,
    ) -> None:
        self._files, self._uuid, self._source, self._write = files, uuid, source, write
        self._state = _found(files, uuid)
        self._record = load_record(files, self._state) if self._state is not None else None
        self._present = source.files()
        self._plan = self._planned(options)
        self._replaces = self._state is None or bool(self._plan.anew)
        self._layout = chosen_layout(options, self._state) if self._replaces else self._own(options)
        self._schema = self._schema_of(self._layout)

    def run(self) -> ExportResult:
        added = {key: self._present[key] for key in self._plan.added}
        written = self._write(self._source, added, self._layout.spec(self._uuid))
        empty = WrittenRows((), {DEFAULT_TABLE: self._schema})
        rows = combined_rows([empty, *written.values()])
        rows = replace(rows, partition_keys=self._layout.partition_keys)
        try:
            committed = self._commit(rows, self._new_record(written))
        except LakebedError as error:
            if nothing_was_done(error):
                discard(self._files, rows.partitions)
            raise
        return self._result(rows, committed)

    def _planned(self, options: ExportOptions) -> ExportPlan:
        return plan_export(
            self._state,
            self._record,
            table_uuid=self._source.uuid,
            files=self._present,
            same_schema=self._state is not None and self._has_same_schema(options, self._state),
            anew=options.anew,
        )

    def _has_same_schema(self, options: ExportOptions, state: DatasetState) -> bool:
        if state.tables != (DEFAULT_TABLE,):
            return False
        schema = self._schema_of(chosen_layout(replace(options, partition_keys=None), state))
        present = load_schema(self._files, state, DEFAULT_TABLE)
        return schema_text(present) == schema_text(schema)

    def _own(self, options: ExportOptions) -> DatasetOptions:
        """The layout of a dataset that the export adds to; another one is refused."""
        assert self._state is not None  # noqa: S101 - what does not exist is replaced
        require_same_layout(self._state, options.partition_keys, options.indexed)
        return chosen_layout(ExportOptions(strings=options.strings), self._state)

    def _schema_of(self, layout: DatasetOptions) -> Any:
        schema = storable(self._source.schema)
        return table_schema(schema, layout.partition_keys, strings=layout.strings)

    def _new_record(self, written: Mapping[str, WrittenRows]) -> ExportRecord:
        known = self._record.files if self._record is not None else {}
        labels = {
            key: tuple(part.label for part in rows.partitions) for key, rows in written.items()
        }
        kept = {key: known[key] for key in self._plan.kept}
        source = self._source
        return ExportRecord(source.table, source.uuid, source.snapshot, {**kept, **labels})

    def _commit(self, rows: WrittenRows, record: ExportRecord) -> DatasetState:
        if self._state is not None and self._plan.nothing and record == self._record:
            return self._state
        path = new_record_path(self._uuid)
        self._files.create(path, record_document(record))
        try:
            return self._committed(rows, path)
        except LakebedError as error:
            if nothing_was_done(error):
                self._files.delete(path)
            raise

    def _committed(self, rows: WrittenRows, path: str) -> DatasetState:
        named = replace(self._layout, metadata={**self._layout.metadata, EXPORT: path})
        if self._state is None:
            return commit_new(self._files, self._uuid, rows, options=named)
        if self._plan.anew:
            return commit(self._files, self._uuid, replacing_all(self._files, rows, named))
        return commit(self._files, self._uuid, partial(self._changed, rows, path, self._state))

    def _changed(
        self,
        rows: WrittenRows,
        path: str,
        expected: DatasetState,
        state: DatasetState,
        made: UncommittedFiles,
    ) -> DatasetState:
        if state.partitions.keys() != expected.partitions.keys():
            raise NameTaken(
                f"the dataset {state.uuid!r} was changed by others during the export.",
                where=state.uuid,
                next="Export again once they are done.",
            )
        return updated_state(
            self._files,
            state,
            made,
            rows,
            known={DEFAULT_TABLE: load_schema(self._files, state, DEFAULT_TABLE)},
            scope=ScopeResult(removed=self._plan.removed),
            indexed=state.indexed,
            metadata={EXPORT: path},
            strings=self._layout.strings,
        )

    def _result(self, rows: WrittenRows, committed: DatasetState) -> ExportResult:
        before = len(self._state.partitions) if self._state is not None else 0
        return ExportResult(
            self._uuid,
            self._source.table,
            self._source.snapshot,
            len(self._plan.added),
            len(rows.partitions),
            before if self._plan.anew else len(self._plan.removed),
            len(committed.partitions),
            self._plan.anew,
            (*self._converted(), *misread_columns(self._schema, self._layout.partition_keys)),
        )

    def _converted(self) -> Iterator[str]:
        for name, type_ in self._source.converted.items():
            kind = "text" if is_text(self._schema.field(name).type) else "binary"
            yield f"{name!r} is of type {type_} and was exported as {kind}."


def _found(files: Files, uuid: str) -> DatasetState | None:
    try:
        return load_state(files, uuid)
    except UnknownName:
        return None
