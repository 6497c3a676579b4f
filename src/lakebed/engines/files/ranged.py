"""A file of a store as Python's own kind of file: read piece by piece, wherever it lies."""

import io

from lakebed.ports.files import Files


class RangedFile(io.RawIOBase):
    """Reads ranges as they are asked for."""

    def __init__(self, files: Files, path: str, *, size: int) -> None:
        self._files, self._path, self._size, self._at = files, path, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = start + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        rest = max(self._size - self._at, 0)
        wanted = rest if size is None or size < 0 else min(size, rest)
        data = self._files.read(self._path, start=self._at, length=wanted) if wanted else b""
        self._at += len(data)
        return data
