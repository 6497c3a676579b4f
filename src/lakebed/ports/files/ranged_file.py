"""A file of a store as a Python file object: seekable, and read by ranges."""

import io
from typing import TYPE_CHECKING

from lakebed.ports.files.files import Files

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class RangedFile(io.RawIOBase):
    """Fetches no more of a file than is asked for; its size is the one that was seen before."""

    def __init__(self, files: Files, path: str, *, size: int) -> None:
        super().__init__()
        self._files, self._path, self._size, self._at = files, path, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        rest = max(self._size - self._at, 0)
        wanted = rest if size is None or size < 0 else min(size, rest)
        data = self._files.read(self._path, start=self._at, length=wanted) if wanted else b""
        self._at += len(data)
        return data

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)
