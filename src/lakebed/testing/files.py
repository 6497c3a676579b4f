"""Files in memory, for tests that need no disk."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from threading import Lock

from lakebed.errors import FileExists, FileMissing, FileReplaced
from lakebed.ports.files.file_content import Content, chunks
from lakebed.ports.files.file_paths import require_folder, require_path, require_range
from lakebed.ports.files.file_probe import require_atomic_writes
from lakebed.ports.files.files import FileInfo, StrayLink

_ADDRESS = "memory/"


class MemoryFiles:
    """Files that last as long as this object; safe to share between threads."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[FileInfo, bytes]] = {}
        self._writes = 0
        self._lock = Lock()

    @property
    def where(self) -> str:
        return "memory"

    @property
    def address(self) -> str:
        return "memory"

    def path_of(self, location: str) -> str | None:
        return location.removeprefix(_ADDRESS) or None if location.startswith(_ADDRESS) else None

    def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
        require_range(start, length)
        _, data = self._found(path)
        return data[start:] if length is None else data[start : start + length]

    def write(self, path: str, data: Content) -> FileInfo:
        content = b"".join(chunks(data))
        with self._lock:
            return self._put(require_path(path), content)

    def create(self, path: str, data: Content) -> FileInfo:
        content = b"".join(chunks(data))
        with self._lock:
            if require_path(path) in self._files:
                raise FileExists(path)
            return self._put(path, content)

    def replace(self, path: str, data: bytes, *, etag: str) -> FileInfo:
        with self._lock:
            if require_path(path) not in self._files:
                raise FileMissing(path)
            if self._files[path][0].etag != etag:
                raise FileReplaced(path)
            return self._put(path, data)

    def info(self, path: str) -> FileInfo:
        info, _ = self._found(path)
        return info

    def list(self, folder: str = "") -> Iterator[FileInfo]:
        top = require_folder(folder)
        with self._lock:
            infos = [
                info
                for path, (info, _) in sorted(self._files.items())
                if not top or path.startswith(f"{top}/")
            ]
        return iter(infos)

    def walk(self, folder: str = "") -> Iterator[FileInfo]:
        return reversed(list(self.list(folder)))  # nobody shall rely on an order

    def follow(self, folder: str, *, stray: Callable[[StrayLink], None]) -> Iterator[FileInfo]:
        return self.walk(folder)

    def folders(self, folder: str = "") -> tuple[str, ...]:
        top = f"{require_folder(folder)}/" if folder else ""
        below = (info.path.removeprefix(top) for info in self.list(folder))
        return tuple(sorted({path.split("/", 1)[0] for path in below if "/" in path}))

    def delete(self, path: str, *, etag: str | None = None) -> None:
        with self._lock:
            if require_path(path) in self._files and etag in {None, self._files[path][0].etag}:
                del self._files[path]

    def clear(self, folder: str) -> None:
        with self._lock:
            self._files = {
                path: file
                for path, file in self._files.items()
                if not path.startswith(f"{require_path(folder)}/")
            }

    def move(self, path: str, to: str, *, etag: str | None = None) -> FileInfo:
        with self._lock:
            if require_path(path) not in self._files or etag not in {
                None,
                self._files[path][0].etag,
            }:
                raise FileMissing(path)
            if require_path(to) in self._files:
                raise FileExists(to)
            _, data = self._files.pop(path)
            return self._put(to, data)

    def probe(self) -> None:
        require_atomic_writes(self, create=self.create, replace=self.replace)

    def _found(self, path: str) -> tuple[FileInfo, bytes]:
        with self._lock:
            if require_path(path) not in self._files:
                raise FileMissing(path)
            return self._files[path]

    def _put(self, path: str, data: bytes) -> FileInfo:
        self._writes += 1
        info = FileInfo(path, len(data), str(self._writes), datetime.now(UTC))
        self._files[path] = (info, bytes(data))
        return info
