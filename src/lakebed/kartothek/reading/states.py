"""The current state of a dataset, loaded from its location.

plateau writes the metadata and the schema in place, so a reader may find a part of them: it reads
again for about a second.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from lakebed.errors import DamagedDataset, FileMissing, UnknownName
from lakebed.kartothek.format.documents import parse_state
from lakebed.kartothek.format.names import (
    DEFAULT_TABLE,
    MetadataFormat,
    metadata_path,
    require_uuid,
    schema_path,
)
from lakebed.kartothek.format.schemas import parse_schema_file, parse_schema_text
from lakebed.kartothek.format.state import DatasetState
from lakebed.ports.files.files import Files
from lakebed.work import retry

_READS = 8  # of a file that is cut off


@dataclass(frozen=True)
class StoredState:
    """A state as it is stored; `etag` is None if it was only to be read."""

    state: DatasetState
    format: MetadataFormat
    etag: str | None = None
    modified: datetime | None = None

    @property
    def path(self) -> str:
        return metadata_path(self.state.uuid, self.format)


def load_stored(files: Files, uuid: str) -> StoredState:
    """The current state and how it is stored, without what a change needs."""
    return _load(files, uuid)


def load_state(files: Files, uuid: str) -> DatasetState:
    """The current state, in one call if it is JSON; `UnknownName` if there is no such dataset."""
    return _load(files, uuid).state


def load_to_change(files: Files, uuid: str, *, known: StoredState | None = None) -> StoredState:
    """The current state and the etag by which it can be replaced.

    If it is still the one that is known, it is not read again.
    """
    if known is not None and _etag(files, known.path) == known.etag:
        return known
    return _load(files, uuid, to_change=True)


def load_schema(files: Files, state: DatasetState, table: str) -> Any:
    """The schema of one of the dataset's tables; `DamagedDataset` if it is missing."""
    found = find_schema(files, state, table)
    if found is None:
        path = schema_path(state.uuid, table)
        raise DamagedDataset(path, f"the schema of the table {table!r} is missing.")
    return found


def find_schema(files: Files, state: DatasetState, table: str) -> Any | None:
    """The schema of a table, from the state or from its file; None if neither has it."""
    path = schema_path(state.uuid, require_known_table(state, table))
    if table in state.schemas:
        return parse_schema_text(state.schemas[table], path=path)
    try:
        return read_schema_file(files, path)
    except FileMissing:
        return None


def read_schema_file(files: Files, path: str) -> Any:
    """The schema in a `_common_metadata`, whole."""
    return retry(lambda: parse_schema_file(files.read(path), path=path), attempts=_READS)


def require_known_table(state: DatasetState, table: str) -> str:
    """The table itself, if the dataset has it; one that has no rows yet may have any."""
    if state.tables and table not in state.tables:
        raise UnknownName(f"table of the dataset {state.uuid}", table, state.tables)
    return table


def only_table(state: DatasetState, table: str | None) -> str:
    """The table that is meant: the named one, or the only one."""
    if table is not None:
        return require_known_table(state, table)
    if len(state.tables) > 1 and DEFAULT_TABLE not in state.tables:
        raise UnknownName(f"table of the dataset {state.uuid}", DEFAULT_TABLE, state.tables)
    return state.tables[0] if len(state.tables) == 1 else DEFAULT_TABLE


def _etag(files: Files, path: str) -> str:
    try:
        return files.info(path).etag
    except FileMissing:
        return ""


def _load(files: Files, uuid: str, *, to_change: bool = False) -> StoredState:
    require_uuid(uuid)
    return retry(partial(_read_state, files, uuid, to_change=to_change), attempts=_READS)


def _read_state(files: Files, uuid: str, *, to_change: bool) -> StoredState:
    """JSON comes first: where a writer left both, plateau reads that one too."""
    for format in MetadataFormat:
        path = metadata_path(uuid, format)
        try:
            # The etag first: if the file is replaced in between, the commit will notice.
            info = files.info(path) if to_change else None
            data = files.read(path)
        except FileMissing:
            continue
        state = parse_state(data, format=format, path=path)
        if info is None:
            return StoredState(state, format)
        return StoredState(state, format, info.etag, info.modified)
    raise UnknownName("dataset", uuid, files.folders())
