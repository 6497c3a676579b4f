"""Copies of datasets, in the same location or another."""

from collections.abc import Iterator
from dataclasses import replace

from lakebed.errors import FileExists, FileMissing, NameTaken
from lakebed.kartothek.format.names import metadata_path, require_uuid, schema_path
from lakebed.kartothek.format.state import EXPORT, DatasetState
from lakebed.kartothek.reading.states import load_to_change
from lakebed.kartothek.writing.commit import create_state, removed_unless_committed
from lakebed.ports.files.files import Files

_PIECE = 16 * 1024 * 1024


def copy(files: Files, uuid: str, *, to: Files, as_uuid: str | None = None) -> DatasetState:
    """Copy the present state of a dataset under another name or into another location.

    The copy appears whole or not at all; it shares no file with the original. `NameTaken` if there
    is a dataset of that name. Of a large file only a piece is in memory at a time.
    """
    stored = load_to_change(files, uuid)
    name = require_uuid(as_uuid or uuid)
    copied = _renamed(stored.state, name)
    with removed_unless_committed(to) as made:
        try:
            to.info(metadata_path(name, stored.format))
        except FileMissing:
            pass
        else:
            raise _taken(to, name)
        for path in sorted(stored.state.files):
            made.create(_moved(path, name), _pieces(files, path))
        for table in stored.state.tables:
            to.write(schema_path(name, table), files.read(schema_path(uuid, table)))
        try:
            return create_state(to, copied, format=stored.format)
        except FileExists:
            raise _taken(to, name) from None


def _pieces(files: Files, path: str) -> Iterator[bytes]:
    """The content of a file; a piece that is not full is the last one."""
    start = 0
    while piece := files.read(path, start=start, length=_PIECE):
        yield piece
        if len(piece) < _PIECE:
            return
        start += len(piece)


def _renamed(state: DatasetState, name: str) -> DatasetState:
    return replace(
        state,
        uuid=name,
        partitions={
            label: {table: _moved(path, name) for table, path in files.items()}
            for label, files in state.partitions.items()
        },
        indices={column: _moved(path, name) for column, path in state.indices.items()},
        index_sizes={_moved(path, name): size for path, size in state.index_sizes.items()},
        commits=(),
        segments={
            column: tuple(_moved(path, name) for path in paths)
            for column, paths in state.segments.items()
        },
        metadata={name: text for name, text in state.metadata.items() if name != EXPORT},
    )


def _moved(path: str, name: str) -> str:
    return f"{name}/{path.partition('/')[2]}"


def _taken(files: Files, name: str) -> NameTaken:
    return NameTaken(f"there already is a dataset {name!r}.", where=files.where)
