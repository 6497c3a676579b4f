"""Moving files out of a zone: to the archive once all readers have them, to quarantine if they are
bad.

A move can be repeated after a crash, and never replaces a file.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import count

from lakebed.errors import FileExists, FileMissing
from lakebed.landing.digest import content_digest
from lakebed.landing.formats.sniffed import BadFile
from lakebed.landing.freeze import list_zone
from lakebed.landing.plan import (
    PROCESSED,
    QUARANTINE,
    REASON,
    SAMPLES,
    Move,
    is_data,
    is_folder,
    matches_pattern,
)
from lakebed.landing.spec import ZoneSpec
from lakebed.names import ZoneName
from lakebed.ports import FileInfo, Files, MovedFile, QuarantinedFile, odd_path

_CHANGED = "it changed while it was being read, so it waits for the next run"


def archive_files(files: Files, moves: Iterable[Move]) -> Iterator[MovedFile]:
    """Move the files that are still the ones that were read; yields each with its new path."""
    return (there for move in moves if (there := _moved(files, move)))


def quarantine_files(
    files: Files, bad: Iterable[BadFile], zone: ZoneName, *, run_id: str, at: datetime
) -> tuple[QuarantinedFile, ...]:
    """Move bad files to a run's quarantine folder, each with a file that gives the reason.

    One with a name that no store takes cannot be moved either: it stays until it is renamed.
    """
    return tuple(_set_aside(files, one, zone, run_id, at) for one in bad)


def processed_files(
    files: Files, zone: ZoneName, spec: ZoneSpec, *, pattern: str | None = None
) -> tuple[FileInfo, ...]:
    """Archived files, which a full refresh reads again."""
    return tuple(_below(files, zone, PROCESSED, spec, pattern, skip=1))


def sample_files(
    files: Files, zone: ZoneName, spec: ZoneSpec, *, pattern: str | None = None
) -> tuple[FileInfo, ...]:
    """Files for previews."""
    return tuple(file for file in _below(files, zone, SAMPLES, spec, pattern, skip=0) if file.size)


def _below(
    files: Files, zone: ZoneName, folder: str, spec: ZoneSpec, pattern: str | None, *, skip: int
) -> Iterator[FileInfo]:
    """The data files of a folder of the zone.

    `skip` is how many leading parts of their paths name a run and not the file.
    """
    globs = [glob for glob in (pattern, spec.pattern) if glob]
    for file in list_zone(files, zone, folder):
        name = "/".join(file.path.removeprefix(f"{zone.folder}/{folder}/").split("/")[skip:])
        if (
            name
            and is_data(name)
            and not is_folder(file)
            and all(matches_pattern(name, glob) for glob in globs)
        ):
            yield file


def _set_aside(
    files: Files, one: BadFile, zone: ZoneName, run_id: str, at: datetime
) -> QuarantinedFile:
    if odd_path(one.file.path):
        return QuarantinedFile(one.file.path, "", f"{one.reason}; rename it")
    below = one.file.path.removeprefix(f"{zone.folder}/")
    move = Move(one.file.path, one.file.etag, f"{zone.folder}/{QUARANTINE}/{run_id}/{below}")
    told = {
        "file": one.file.path, "size": one.file.size, "etag": one.file.etag, "rows": one.rows,
        "reason": one.reason, "run_id": run_id, "at": at.isoformat(),
    }  # fmt: skip
    moved = _moved(files, move)
    if moved is None:
        return QuarantinedFile(one.file.path, "", _CHANGED)
    files.write(
        f"{moved.new_path}{REASON}",
        json.dumps(told, ensure_ascii=False, indent=2).encode() + b"\n",
    )
    return QuarantinedFile(one.file.path, moved.new_path, one.reason)


def _moved(files: Files, move: Move) -> MovedFile | None:
    """Where the file was moved; None if it is gone or no longer the one that was read."""
    for target in _places(move.to):
        try:
            there = _brought(files, move, target)
        except FileMissing:
            return None
        if there:
            return MovedFile(move.path, move.etag, target, there.etag)
    return None


def _brought(files: Files, move: Move, target: str) -> FileInfo | None:
    """The file at the target; None if a different file is there."""
    try:
        return files.move(move.path, target, etag=move.etag)
    except FileExists:
        source, there = files.info(move.path), files.info(target)
        if source.etag != move.etag:
            raise FileMissing(move.path) from None
        if not _same(files, source, there):
            return None
        # an earlier attempt moved it and was interrupted before this
        files.delete(move.path, etag=move.etag)
        return there


def _places(path: str) -> Iterator[str]:
    """The path itself, then numbered names beside it with the same extension."""
    yield path
    folder, slash, name = path.rpartition("/")
    stem, dot, extension = name.partition(".")
    for number in count(2):
        yield f"{folder}{slash}{stem}~{number}{dot}{extension}"


def _same(files: Files, first: FileInfo, second: FileInfo) -> bool:
    if first.size != second.size or first.etag == second.etag:
        return first.size == second.size
    return content_digest(files, first) == content_digest(files, second)
