"""Taking a file away from its path in a folder, if it still is the one that was meant: others may replace it at any time."""

import os
from contextlib import suppress
from pathlib import Path

from lakebed.ports.file_paths import unfinished_name


def etag_of(seen: os.stat_result) -> str:
    """Differs when the content does: ours is never changed in place, and whoever does changes its time."""
    return f"{seen.st_size:x}-{seen.st_mtime_ns:x}-{seen.st_ino:x}"


def move_file(source: Path, target: Path, etag: str) -> bool:
    """Remove the source of a move, if its link at the target is the file that was meant; otherwise all is as it was."""
    try:
        right = etag_of(target.lstat()) == etag
        if right:
            remove_file(source, etag)
    except FileNotFoundError:  # another mover was first
        right = False
    if right and etag_of(target.lstat()) != etag:  # somebody who had it open wrote on: it is not the file that was meant
        _put_back(target, source)
        right = False
    if not right:
        target.unlink()
    return right


def remove_file(place: Path, etag: str) -> None:
    """Remove the file with this etag. It is taken out of everybody's way first: another one is seen in time, and put back."""
    held = place.parent / unfinished_name()
    place.rename(held)
    if etag_of(held.lstat()) != etag:
        _put_back(held, place)
    held.unlink()


def _put_back(held: Path, place: Path) -> None:
    with suppress(FileExistsError):  # the next one has come already, and has replaced this
        os.link(held, place, follow_symlinks=False)
