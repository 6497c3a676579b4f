"""Adding rows to a dataset and removing others, in one commit."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lakebed.errors import LakebedError, UsageError
from lakebed.kartothek.format.column_types import strings_of
from lakebed.kartothek.format.names import DEFAULT_TABLE
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.reading.states import StoredState, load_to_change
from lakebed.kartothek.writing.commit import UncommittedFiles, commit, nothing_was_done
from lakebed.kartothek.writing.partition_files import PartitionSpec, discard
from lakebed.kartothek.writing.rows import WriteRows, WrittenRows, write_rows
from lakebed.kartothek.writing.scope import DeleteScope
from lakebed.kartothek.writing.update import known_schemas, updated_state
from lakebed.ports.files.files import Files


def update(
    files: Files,
    uuid: str,
    rows: Any = (),
    *,
    delete_scope: Sequence[Mapping[str, Any]] = (),
    metadata: Mapping[str, str] | None = None,
    table: str | None = None,
    fields: Mapping[str, Any] | None = None,
    partition_keys: Sequence[str] | None = None,
    indexed: Collection[str] | None = None,
    sort_by: Sequence[str] = (),
    write: WriteRows = write_rows,
) -> DatasetState:
    """Remove the rows of the scope and add these, in one commit.

    The scope is exact: of a partition with other rows, those are kept. Rows must have the
    dataset's schema. Its keys and indices are used; others are refused. `write` writes the data
    files, such as Spark's executors do.
    """
    stored = load_to_change(files, uuid)
    state = stored.state
    _require_same(state, partition_keys, indexed)
    chosen = state.indexed if state.partitions else tuple(indexed or state.indexed)
    spec = PartitionSpec(uuid, state.partition_keys, chosen, tuple(sort_by))
    only = state.tables[0] if len(state.tables) == 1 else DEFAULT_TABLE
    written = write(files, spec, rows, table=table or only, fields=fields)
    try:
        return commit_rows(
            files,
            uuid,
            written,
            delete_scope=delete_scope,
            metadata=metadata,
            indexed=chosen,
            known=stored,
        )
    except LakebedError as error:
        if nothing_was_done(error):
            discard(files, written.partitions)
        raise


def commit_rows(
    files: Files,
    uuid: str,
    written: WrittenRows,
    *,
    delete_scope: Sequence[Mapping[str, Any]] = (),
    metadata: Mapping[str, str] | None = None,
    indexed: Collection[str] = (),
    known: StoredState | None = None,
) -> DatasetState:
    """The second phase of a write: make rows visible that processes have written as files.

    If it fails the files stay, so that it can be tried again. A `known` state is not read again if
    it is still the current one.
    """
    scope = DeleteScope(files, delete_scope)

    def change(state: DatasetState, made: UncommittedFiles) -> DatasetState:
        result = scope.apply(state)
        if not (result.removed or written.partitions or metadata):
            return state
        columns = dict.fromkeys([*state.indexed, *(indexed if not state.partitions else ())])
        schemas = known_schemas(files, state, written.schemas)
        return updated_state(
            files,
            state,
            made,
            written,
            known=schemas,
            scope=result,
            indexed=tuple(columns),
            metadata=metadata or {},
            strings=strings_of(schemas.values()),
        )

    committed = commit(files, uuid, change, known=known)
    scope.remove_unused(committed)
    return committed


def _require_same(
    state: DatasetState, partition_keys: Sequence[str] | None, indexed: Collection[str] | None
) -> None:
    if partition_keys is not None and tuple(partition_keys) != state.partition_keys:
        raise UsageError(
            f"the dataset has the partition keys {list(state.partition_keys)}, not"
            f" {list(partition_keys)}.",
            where=state.uuid,
            next="Leave them out: the dataset's own are used.",
        )
    unknown = [one for one in indexed or () if one not in state.indexed]
    if unknown and state.partitions:
        raise UsageError(
            f"the dataset has no index on {unknown[0]!r}.",
            where=state.uuid,
            next="Build it first: build_indices.",
        )
