"""A cache of what was read from immutable files: in memory for this process, on disk for
the next.
"""

import marshal
import os
import secrets
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from cachetools import LRUCache

_VERSION = 2  # of the cached values: increase it when they change, so that old ones are ignored
_LOOK_EVERY = 64  # entries written between two measurements of the folder
_SUM = 4


class ManifestCache:
    """Values by the location of an immutable file: only tuples, lists, dicts, strings, bytes and
    numbers.

    Processes share the folder: an entry is written to a temporary file and renamed, so it is
    complete or absent; a damaged one is ignored. Without a folder the cache is in memory only.
    """

    def __init__(self, folder: Path | None, *, memory: int, disk: int) -> None:
        build = f"{sys.implementation.cache_tag}-{marshal.version}-{_VERSION}"
        self._folder = folder / build if folder else None
        self._disk = disk
        self._known: LRUCache[str, tuple[Any, int]] = LRUCache(
            memory, getsizeof=lambda kept: kept[1]
        )
        self._written = 0
        self._lock = Lock()

    def get(self, kind: str, location: str, make: Callable[[], Any]) -> Any:
        """The value that `make` returns for this file, cached."""
        key = sha256(f"{kind}\n{location}".encode()).hexdigest()
        with self._lock:
            if key in self._known:
                return self._known[key][0]
        found = self._from_disk(key)
        if found is None:
            value = make()
            data = marshal.dumps(value)
            self._to_disk(key, data)
        else:
            value, data = found
        self._keep(key, value, len(data))
        return value

    def _keep(self, key: str, value: Any, size: int) -> None:
        with self._lock, suppress(ValueError):  # what is larger than the whole cache is not kept
            self._known[key] = (value, size)

    def _from_disk(self, key: str) -> tuple[Any, bytes] | None:
        if self._folder is None:
            return None
        file = self._folder / key
        try:
            content = file.read_bytes()
            data = content[_SUM:]
            if zlib.crc32(data).to_bytes(_SUM) != content[:_SUM] or not data:
                return None
            value = marshal.loads(data)  # noqa: S302 - our own folder, and the sum says that it is what we wrote
        except (OSError, ValueError, EOFError, TypeError):
            return None
        with suppress(OSError):
            os.utime(file)  # the least recently used is removed first
        return value, data

    def _to_disk(self, key: str, data: bytes) -> None:
        """Write an entry; a cache that cannot be written is no error."""
        if self._folder is None or len(data) > self._disk:
            return
        aside = self._folder / f".{key}.{secrets.token_hex(6)}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            aside.write_bytes(zlib.crc32(data).to_bytes(_SUM) + data)
            aside.replace(self._folder / key)
        except OSError:
            with suppress(OSError):
                aside.unlink()
        with self._lock:
            self._written += 1
            due = self._written % _LOOK_EVERY == 1
        if due:
            self._make_room(self._folder)

    def _make_room(self, folder: Path) -> None:
        """Remove the least recently used entries until three quarters of the limit are left."""
        found = []
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    found.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
        size = sum(one for _, one, _ in found)
        if size <= self._disk:
            return
        for _, one, path in sorted(found):
            with suppress(OSError):
                Path(path).unlink()
            size -= one
            if size <= self._disk * 3 // 4:
                return
