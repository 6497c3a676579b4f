"""Moving and removing a local file only if it is still the expected one: it may be replaced at any
time.
"""

import os
from contextlib import suppress
from pathlib import Path

from lakebed.ports.files.file_paths import unfinished_name


def etag_of(seen: os.stat_result) -> str:
    """An etag that differs when the content does: Lakebed never changes files in place, and others
    change their time.
    """
    return f"{seen.st_size:x}-{seen.st_mtime_ns:x}-{seen.st_ino:x}"


def move_file(source: Path, target: Path, etag: str) -> bool:
    """Remove the source of a move if its link at the target is the expected file; otherwise undo
    the move.
    """
    try:
        right = etag_of(target.lstat()) == etag
        if right:
            remove_file(source, etag)
    except FileNotFoundError:  # another move was first
        right = False
    # a process that had it open wrote more: it is not the expected file
    if right and etag_of(target.lstat()) != etag:
        _put_back(target, source)
        right = False
    if not right:
        target.unlink()
    return right


def remove_file(place: Path, etag: str) -> None:
    """Remove the file with this etag.

    It is renamed first, so that a different file is noticed and put back.
    """
    held = place.parent / unfinished_name()
    place.rename(held)
    if etag_of(held.lstat()) != etag:
        _put_back(held, place)
    held.unlink()


def _put_back(held: Path, place: Path) -> None:
    with suppress(FileExistsError):  # a new file has already replaced it
        os.link(held, place, follow_symlinks=False)
