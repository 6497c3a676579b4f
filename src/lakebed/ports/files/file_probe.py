"""Proof that a store's `create` and `replace` are atomic: of several racing writers exactly one
succeeds.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Protocol
from uuid import uuid4

from lakebed.errors import FileExists, FileReplaced, UnsafeStore
from lakebed.ports.files.files import FileInfo, Files

PROBE_FOLDER = ".data/probe"
_RACERS = 4
_ROUNDS = 2  # a server that looks first and writes then may pass a single round by luck

Create = Callable[[str, bytes], FileInfo]
_Attempt = Callable[[bytes], FileInfo]


class Replace(Protocol):
    """`Files.replace`."""

    def __call__(self, path: str, data: bytes, *, etag: str) -> FileInfo: ...


def require_atomic_writes(files: Files, *, create: Create, replace: Replace) -> None:
    """Race `create` and `replace` on fresh paths; `UnsafeStore` says which promise was broken.

    A store that keeps its word stays as it was.
    """
    for _ in range(_ROUNDS):
        path = f"{PROBE_FOLDER}/{uuid4().hex}"
        try:
            broken = _broken_promise(files, path, create, replace)
        except UnsafeStore:
            files.delete(path)
            raise
        files.delete(path)
        if broken:
            raise UnsafeStore(files.where, f"its {broken}.")


def _broken_promise(files: Files, path: str, create: Create, replace: Replace) -> str:
    broken, etag = _race(files, path, lambda data: create(path, data))
    if broken:
        return f"create-if-absent {broken}"
    broken, _ = _race(files, path, lambda data: replace(path, data, etag=etag))
    return f"replace-if-unchanged {broken}" if broken else ""


def _race(files: Files, path: str, attempt: _Attempt) -> tuple[str, str]:
    """What went wrong, and the etag of the winner's file."""
    winners = _winners(attempt)
    if len(winners) != 1:
        return (
            f"is not atomic: of {_RACERS} racing writers of one file {len(winners)} were told they"
            " had written it"
        ), ""
    [(data, info)] = winners
    if _written(attempt, uuid4().hex.encode()):
        return "replaced a file that it should have kept", ""
    if files.read(path) != data:
        return "kept the bytes of a writer that was told it had lost", ""
    return "", info.etag


def _winners(attempt: _Attempt) -> list[tuple[bytes, FileInfo]]:
    start = Barrier(_RACERS)

    def race(data: bytes) -> FileInfo | None:
        start.wait()
        return _written(attempt, data)

    contents = [uuid4().hex.encode() for _ in range(_RACERS)]  # an etag is made from the content
    with ThreadPoolExecutor(_RACERS) as racers:
        raced = zip(contents, racers.map(race, contents), strict=True)
        return [(data, info) for data, info in raced if info]


def _written(attempt: _Attempt, data: bytes) -> FileInfo | None:
    try:
        return attempt(data)
    except (FileExists, FileReplaced):
        return None
