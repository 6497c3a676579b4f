"""Sidecars: lists that are too long for a snapshot's summary, in files named by their content."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from tempfile import SpooledTemporaryFile
from typing import Any

from lakebed.batches.state import (
    BatchState,
    BatchStates,
    Checkpoint,
    checkpoint_of,
    fold,
    read_state,
    state_line,
)
from lakebed.errors import BadFiles, FileExists, FileMissing
from lakebed.names import TableName
from lakebed.ports import MAIN, FileInfo, Files, TableMetadata

FOLDER = "metadata/batches"
_IN_MEMORY = 1024 * 1024


def sidecar_folder(files: Files, table: TableName, location: str) -> str:
    """The folder below the lake's root that has the sidecars of a table. A REST catalog may keep
    the table itself elsewhere.
    """
    return files.path_of(location) or table.folder


def write_file_list(files: Files, table_folder: str, listed: Iterable[FileInfo]) -> str:
    """Store the files of a batch; returns the path of the sidecar, below the lake's root."""
    return _write(files, table_folder, ([one.path, one.size, one.etag] for one in listed))


def read_file_list(files: Files, path: str) -> Iterator[tuple[str, int, str]]:
    """Path, size and etag of each file of a batch."""
    return ((line[0], line[1], line[2]) for line in _lines(files, path))


def write_checkpoint(
    files: Files, table_folder: str, states: Iterable[BatchState], *, at: int
) -> Checkpoint:
    """Store the state of all batches at a snapshot."""
    ordered = sorted(states, key=lambda state: state.label)
    return Checkpoint(at, _write(files, table_folder, map(state_line, ordered)))


def read_checkpoint(files: Files, checkpoint: Checkpoint) -> tuple[BatchState, ...]:
    """The states that a checkpoint holds; `BadFiles` if it is damaged, `FileMissing` if it is
    lost.
    """
    return tuple(read_state(line) for line in _lines(files, checkpoint.path))


def known_batches(
    files: Files, metadata: TableMetadata, *, at: int | None = None, ref: str = MAIN
) -> BatchStates:
    """The batches of a table as its snapshots and its checkpoint tell. Of a checkpoint that is lost
    or damaged nothing is known.
    """
    checkpoint = checkpoint_of(metadata)
    try:
        known = read_checkpoint(files, checkpoint) if checkpoint else None
    except (FileMissing, BadFiles):
        known = None
    return fold(metadata, known, at=at, ref=ref)


def _write(files: Files, table_folder: str, lines: Iterable[Any]) -> str:
    """The same content has the same name, so that an existing file is the right one."""
    with SpooledTemporaryFile(_IN_MEMORY) as packed:
        # without a time: equal lists are equal files
        with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as out:
            for line in lines:
                out.write(json.dumps(line, sort_keys=True).encode() + b"\n")
        packed.seek(0)
        data = packed.read()
    path = f"{table_folder}/{FOLDER}/{hashlib.sha256(data).hexdigest()}.json.gz"
    with suppress(FileExists):
        files.create(path, data)
    return path


def _lines(files: Files, path: str) -> Iterator[Any]:
    data = files.read(path)
    if hashlib.sha256(data).hexdigest() != path.rpartition("/")[2].partition(".")[0]:
        raise _damaged(path)
    try:
        return map(json.loads, gzip.decompress(data).splitlines())
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path) from error


def _damaged(path: str) -> BadFiles:
    return BadFiles(
        "the content of this list of batches is not what it was written with.",
        where=path,
        safe="The table's rows are unaffected.",
        next="Restore the file, or run the pipeline with --force: it writes every batch again.",
    )
