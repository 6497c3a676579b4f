"""New datasets, and datasets whose whole content is replaced."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from lakebed.errors import FileExists, LakebedError, NameTaken, UnknownName, UsageError
from lakebed.kartothek.format.names import (
    DEFAULT_TABLE,
    clashing,
    is_dataset_file,
    require_uuid,
)
from lakebed.kartothek.format.schemas import table_schema
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.reading.states import load_state
from lakebed.kartothek.writing.commit import (
    Change,
    UncommittedFiles,
    commit,
    create_state,
    nothing_was_done,
    removed_unless_committed,
)
from lakebed.kartothek.writing.options import DEFAULTS, DatasetOptions
from lakebed.kartothek.writing.partition_files import discard
from lakebed.kartothek.writing.rows import WriteRows, WrittenRows, write_rows
from lakebed.kartothek.writing.scope import ScopeResult
from lakebed.kartothek.writing.update import restore_schemas, updated_state
from lakebed.ports.files.files import Files


def create(
    files: Files,
    uuid: str,
    schema: Any,
    *,
    table: str = DEFAULT_TABLE,
    options: DatasetOptions = DEFAULTS,
) -> DatasetState:
    """A dataset without rows; `NameTaken` if its name is not free."""
    keys, strings = options.partition_keys, options.strings
    rows = WrittenRows((), {table: table_schema(schema, keys, strings=strings)})
    return commit_new(files, uuid, rows, options=options)


def store(
    files: Files,
    uuid: str | None,
    rows: Any,
    *,
    table: str = DEFAULT_TABLE,
    fields: Mapping[str, Any] | None = None,
    options: DatasetOptions = DEFAULTS,
    overwrite: bool = False,
    write: WriteRows = write_rows,
) -> DatasetState:
    """A dataset with these rows; `NameTaken` if its name is not free.

    With `overwrite`, an existing dataset gets these rows, schema, keys and indices instead of its
    own in one commit. Its former files stay until garbage is collected. `write` writes the data
    files, such as Spark's executors do.
    """
    name = require_uuid(uuid if uuid is not None else uuid4().hex)
    exists = _exists(files, name)
    if exists and not overwrite:
        raise _taken(files, name)
    written = write(files, options.spec(name), rows, table=table, fields=fields)
    try:
        if exists:
            return commit(files, name, replacing_all(files, written, options))
        return commit_new(files, name, written, options=options)
    except LakebedError as error:
        if nothing_was_done(error):
            discard(files, written.partitions)
        raise


def commit_new(
    files: Files, uuid: str, rows: WrittenRows, *, options: DatasetOptions = DEFAULTS
) -> DatasetState:
    """Make a new dataset of rows that were written as files."""
    require_uuid(uuid)
    if _exists(files, uuid):
        raise _taken(files, uuid)
    with removed_unless_committed(files) as made:
        state = replacing_all(files, rows, options)(DatasetState(uuid), made)
        try:
            return create_state(files, state, format=options.format)
        except FileExists:
            restore_schemas(files, load_state(files, uuid))
            raise _taken(files, uuid) from None


def replacing_all(files: Files, rows: WrittenRows, options: DatasetOptions) -> Change:
    """A change after which a dataset has these rows only; nothing of its former state is used."""
    if not rows.schemas:
        raise UsageError("a dataset needs a schema, and no frame was given.")
    metadata = {"creation_time": datetime.now(UTC).isoformat(), **options.user_metadata}

    def change(state: DatasetState, made: UncommittedFiles) -> DatasetState:
        keys = options.partition_keys
        return updated_state(
            files,
            DatasetState(state.uuid, {}, keys, commits=state.commits, extra=state.extra),
            made,
            rows,
            known={},
            scope=ScopeResult(),
            indexed=options.indexed,
            metadata=metadata,
            strings=options.strings,
        )

    return change


def _exists(files: Files, uuid: str) -> bool:
    """Whether there is such a dataset; `NameTaken` if other files have its name or begin with it.

    What writers of datasets left in its folder does not count: others may be writing now.
    """
    try:
        load_state(files, uuid)
    except UnknownName:
        others = [info.path for info in files.list(uuid) if not is_dataset_file(info.path)]
        other = next(iter(others), None) or clashing(uuid, files.folders())
        if other is None:
            return False
        raise NameTaken(
            f"{uuid!r} cannot be the name of a dataset: {other!r} begins with it.",
            where=files.where,
            next="Choose a name that no other name in the location begins with.",
        ) from None
    return True


def _taken(files: Files, uuid: str) -> NameTaken:
    return NameTaken(
        f"there already is a dataset {uuid!r}.",
        where=files.where,
        next="Choose another name, append to it, or overwrite it.",
    )
