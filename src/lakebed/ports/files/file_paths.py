"""Rules for paths that every file store shares."""

import re
from hashlib import blake2b
from uuid import uuid4

from lakebed.errors import BadName

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\\]")
_UNFINISHED = re.compile(r"\.lakebed-[0-9a-f]{32}\.part")
_LOCK = re.compile(r"\.lakebed-[0-9a-f]{32}\.lock")


def require_path(path: str) -> str:
    """The path itself if it names a file below the root; refused otherwise."""
    if not path:
        raise BadName("path", path, "it is empty")
    if path.startswith("/"):
        raise BadName("path", path, "paths are relative to the lake's root")
    if not all(part not in {"", ".", ".."} for part in path.split("/")):
        raise BadName("path", path, "'.', '..' and empty parts are not allowed in it")
    if fault := odd_path(path):
        raise BadName("path", path, fault)
    if any(is_unfinished(part) or is_lock(part) for part in path.split("/")):
        raise BadName("path", path, "names of this form are Lakebed's own temporary files")
    return path


def odd_path(path: str) -> str:
    """Why no store takes this path, as a sentence about it; empty if they do. A listing shows such
    a file nevertheless.
    """
    if _UNPRINTABLE.search(
        path
    ):  # some S3 servers read a backslash as a slash, and XML cannot hold control characters
        return "control characters and backslashes are not allowed in it"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    return ""


def require_folder(folder: str) -> str:
    """Like `checked`, where the empty folder is the root and a slash may stand at the end."""
    return require_path(folder.removesuffix("/")) if folder else folder


def require_range(start: int, length: int | None) -> None:
    """Refuse a range that counts from the end or backwards."""
    if start < 0 or (length is not None and length < 0):
        raise ValueError(
            f"a range begins at 0 or later and is not of negative length: start={start},"
            f" length={length}"
        )


def unfinished_name() -> str:
    """A name for a file that is still being written; listings leave it out."""
    return f".lakebed-{uuid4().hex}.part"


def is_unfinished(name: str) -> bool:
    return _UNFINISHED.fullmatch(name) is not None


def lock_name(name: str) -> str:
    """The name of the lock of a file, beside it; listings leave it out."""
    return f".lakebed-{blake2b(name.encode(), digest_size=16).hexdigest()}.lock"


def is_lock(name: str) -> bool:
    return _LOCK.fullmatch(name) is not None
