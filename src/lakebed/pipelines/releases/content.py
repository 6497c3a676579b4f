"""Content-addressed storage of pipeline files: named by their SHA-256, never changed, checked when
read.
"""

from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256

from lakebed.errors import DamagedRelease, FileExists, FileMissing
from lakebed.ports import Files
from lakebed.settings import DATA

OBJECTS = f"{DATA}/releases/objects"
# a reaper that decided before the row was written can remove it once, and puts it back itself
_TRIES = 5
Contents = Mapping[str, bytes]  # path in a pipeline's folder → content
FileDigests = Mapping[str, str]  # path in a pipeline's folder → SHA-256 of the content


def object_path(digest: str) -> str:
    """The path of content with this SHA-256."""
    return f"{OBJECTS}/{digest[:2]}/{digest}"


def store_content(files: Files, contents: Contents) -> dict[str, str]:
    """Store content, before any row refers to it: path → SHA-256."""
    for digest, data in _by_digest(contents).items():
        with suppress(
            FileMissing
        ):  # a reaper removed it at the same moment; `ensure_stored` comes later
            _put(files, object_path(digest), data)
    return {path: sha256(data).hexdigest() for path, data in sorted(contents.items())}


def _put(files: Files, place: str, data: bytes) -> None:
    try:
        files.create(place, data)
    except FileExists:
        files.write(
            place, data
        )  # repairs it, and makes it young again: reaping leaves young content alone


def ensure_stored(files: Files, contents: Contents) -> None:
    """Store again what a reaper removed because it decided before our row was written."""
    for digest, data in _by_digest(contents).items():
        for _ in range(_TRIES):
            try:
                files.info(object_path(digest))
                break
            except FileMissing:
                with suppress(FileMissing):
                    _put(files, object_path(digest), data)


def fetch_content(files: Files, kept: FileDigests) -> dict[str, bytes]:
    """The content of these files. Raises `DamagedRelease` if some is missing or was changed."""
    return {path: _fetched(files, path, digest) for path, digest in kept.items()}


def _fetched(files: Files, path: str, digest: str) -> bytes:
    stored = object_path(digest)
    try:
        data = files.read(stored)
    except FileMissing:
        raise _damaged(path, stored, "is gone") from None
    if (found := sha256(data).hexdigest()) != digest:
        raise _damaged(
            path, stored, f"was changed: its SHA-256 is {found[:12]}…, not {digest[:12]}…"
        )
    return data


def _damaged(path: str, stored: str, why: str) -> DamagedRelease:
    next = (
        "Restore this file from a backup, release the draft again, or roll back to another version."
    )
    return DamagedRelease(f"the stored content of {path} {why}.", where=stored, next=next)


def _by_digest(contents: Contents) -> dict[str, bytes]:
    return {sha256(data).hexdigest(): data for data in contents.values()}
