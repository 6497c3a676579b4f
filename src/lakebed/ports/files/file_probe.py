"""Proof that a store's `create` is atomic: of several racing creators exactly one succeeds."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import uuid4

from lakebed.errors import FileExists, UnsafeStore
from lakebed.ports.files.files import Files

PROBE_FOLDER = ".data/probe"
_RACERS = 4
_ROUNDS = 2  # a server that looks first and writes then may pass a single round by luck

Create = Callable[[str, bytes], object]


def require_atomic_create(files: Files, *, create: Create) -> None:
    """Race `create` on fresh paths; `UnsafeStore` says which promise was broken.

    A store that keeps its word stays as it was.
    """
    for _ in range(_ROUNDS):
        path = f"{PROBE_FOLDER}/{uuid4().hex}"
        broken = _broken_promise(files, path, create)
        files.delete(path)
        if broken:
            raise UnsafeStore(files.where, f"its create-if-absent {broken}.")


def _broken_promise(files: Files, path: str, create: Create) -> str:
    winners = _race(path, create)
    if len(winners) != 1:
        return (
            f"is not atomic: of {_RACERS} racing creators of one file {len(winners)} were told they"
            " had made it"
        )
    if _created(create, path, b"late"):
        return "replaced a file that was there"
    if files.read(path) != winners[0]:
        return "kept the bytes of a creator that was told it had lost"
    return ""


def _race(path: str, create: Create) -> list[bytes]:
    start = Barrier(_RACERS)

    def attempt(racer: bytes) -> bool:
        start.wait()
        return _created(create, path, racer)

    names = [str(racer).encode() for racer in range(_RACERS)]
    with ThreadPoolExecutor(_RACERS) as racers:
        return [name for name, won in zip(names, racers.map(attempt, names), strict=True) if won]


def _created(create: Create, path: str, data: bytes) -> bool:
    try:
        create(path, data)
    except FileExists:
        return False
    return True
