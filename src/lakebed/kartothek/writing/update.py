"""The state after a change: partitions, schemas, indices and user metadata."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from lakebed.errors import BadBatch
from lakebed.kartothek.format.column_types import StringProfile
from lakebed.kartothek.format.names import schema_path
from lakebed.kartothek.format.pandas_metadata import with_pandas_metadata
from lakebed.kartothek.format.schemas import (
    combined_schema,
    parse_schema_text,
    schema_file,
    schema_text,
)
from lakebed.kartothek.format.state import SEGMENTS, DatasetState
from lakebed.kartothek.reading.states import find_schema, load_schema
from lakebed.kartothek.writing.commit import UncommittedFiles
from lakebed.kartothek.writing.index_update import with_updated_indices
from lakebed.kartothek.writing.rows import WrittenRows
from lakebed.kartothek.writing.scope import ScopeResult
from lakebed.ports.files.files import Files


def updated_state(
    files: Files,
    state: DatasetState,
    made: UncommittedFiles,
    rows: WrittenRows,
    *,
    known: Mapping[str, Any],
    scope: ScopeResult,
    indexed: Collection[str],
    metadata: Mapping[str, str],
    strings: StringProfile,
) -> DatasetState:
    """The state with new rows and without those of the scope; writes its schemas and indices.

    `known` are the schemas of the tables that the dataset has already.
    """
    _require_fitting(state, rows)
    schemas = _agreed_schemas(known, rows, state.uuid)
    added = (*scope.rewritten, *rows.partitions)
    indices = with_updated_indices(
        files,
        state,
        made,
        added=added,
        removed=scope.removed,
        indexed=indexed,
        segmented={**state.metadata, **metadata}.get(SEGMENTS) == "true",
        schemas=schemas,
        strings=strings,
    )
    changed = indices.with_partitions(
        {part.label: part.files for part in added}, without=scope.removed
    )
    write_schemas(files, state, schemas)
    return replace(
        changed,
        metadata={**state.metadata, **metadata},
        schemas={name: schema_text(schema) for name, schema in schemas.items()},
    )


def write_schemas(files: Files, state: DatasetState, schemas: Mapping[str, Any]) -> None:
    """Write `_common_metadata` of the tables whose schema the state does not have yet.

    Our own readers take the schema from the state; the file is for others.
    """
    for name, schema in schemas.items():
        if state.schemas.get(name) != schema_text(schema):
            files.write(schema_path(state.uuid, name), schema_file(schema))


def restore_schemas(files: Files, state: DatasetState) -> None:
    """Write the files of a state's schemas again, which another creator may have replaced."""
    for name, text in state.schemas.items():
        path = schema_path(state.uuid, name)
        schema = with_pandas_metadata(parse_schema_text(text, path=path))
        files.write(path, schema_file(schema))


def known_schemas(files: Files, state: DatasetState, tables: Iterable[str]) -> dict[str, Any]:
    """The schemas of a dataset's tables; one without rows may lack them."""
    if state.partitions:
        return {name: load_schema(files, state, name) for name in state.tables}
    found = {name: find_schema(files, state, name) for name in {*state.tables, *tables}}
    return {name: schema for name, schema in found.items() if schema is not None}


def _agreed_schemas(known: Mapping[str, Any], rows: WrittenRows, uuid: str) -> dict[str, Any]:
    agreed = {
        name: combined_schema(known[name], schema, where=uuid) if name in known else schema
        for name, schema in rows.schemas.items()
    }
    return {**known, **agreed}


def _require_fitting(state: DatasetState, rows: WrittenRows) -> None:
    """All partitions have the same tables and partition keys."""
    if rows.partitions and rows.partition_keys != state.partition_keys:
        raise BadBatch(
            f"the rows were written with the partition keys {list(rows.partition_keys)}, and the"
            f" dataset has {list(state.partition_keys)}.",
            where=state.uuid,
            safe="Nothing was committed.",
        )
    expected = state.tables or tuple(rows.schemas)
    for part in rows.partitions:
        if set(part.files) != set(expected):
            raise BadBatch(
                f"the rows are of the tables {', '.join(part.files)}, and the dataset has"
                f" {', '.join(expected)}.",
                where=state.uuid,
                safe="Nothing was committed.",
                next="Give rows for all tables of the dataset, and no others.",
            )
