"""Sorting more records than fit into memory: sorted parts go to temporary files and are merged."""

import heapq
import marshal
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from tempfile import TemporaryFile
from typing import IO

_AT_ONCE = 50_000  # records; some 20 MB of paths
_WIDTH = 64  # files that are merged at a time: open files are limited, too

Entry = tuple[str | int | float | bytes, ...]


def sorted_entries(entries: Iterable[Entry], *, at_once: int = _AT_ONCE) -> Iterator[Entry]:
    """The entries in order. All are taken before the first is given; at most `at_once` of them are
    in memory.
    """
    with ExitStack() as opened:
        parts: list[IO[bytes]] = []
        rest = iter(entries)
        while part := list(islice(rest, at_once)):
            parts.append(_spilled(sorted(part), opened))
            if len(parts) == _WIDTH:
                parts = [_merged(parts, opened)]
        yield from heapq.merge(*map(_read, parts))


def _merged(parts: list[IO[bytes]], opened: ExitStack) -> IO[bytes]:
    whole = _spilled(heapq.merge(*map(_read, parts)), opened)
    for part in parts:
        part.close()
    return whole


def _spilled(entries: Iterable[Entry], opened: ExitStack) -> IO[bytes]:
    file = opened.enter_context(TemporaryFile())  # noqa: SIM115 - closed by `opened`
    for entry in entries:
        write_entry(entry, file)
    return file


def _read(file: IO[bytes]) -> Iterator[Entry]:
    file.seek(0)
    while True:
        try:
            yield read_entry(file)
        except EOFError:
            return


# Files of this process that nobody else ever reads: Python's own format is the fastest.
def write_entry(entry: Entry, file: IO[bytes]) -> None:
    """Append an entry to a file."""
    marshal.dump(entry, file)


def read_entry(file: IO[bytes]) -> Entry:
    """The next entry of a file; `EOFError` at its end."""
    return tuple(marshal.load(file))  # noqa: S302
