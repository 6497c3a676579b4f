"""The probe refuses stores that break a promise in a way that one writer alone would not see."""

import pytest

from lakebed.errors import FileExists, FileReplaced, UnsafeStore
from lakebed.ports.files.file_content import Content, chunks
from lakebed.ports.files.files import FileInfo
from lakebed.testing.files import MemoryFiles


class IgnoresEtags(MemoryFiles):
    """As a server that does not know If-Match."""

    def replace(self, path: str, data: bytes, *, etag: str) -> FileInfo:
        return self.write(path, data)


class KeepsTheLosersBytes(MemoryFiles):
    """As a server that writes first and looks then."""

    def replace(self, path: str, data: bytes, *, etag: str) -> FileInfo:
        try:
            return super().replace(path, data, etag=etag)
        except FileReplaced:
            self.write(path, data)
            raise


class NeverReplaces(MemoryFiles):
    def replace(self, path: str, data: bytes, *, etag: str) -> FileInfo:
        raise FileReplaced(path)


class CreatesAnyway(MemoryFiles):
    def create(self, path: str, data: Content) -> FileInfo:
        return self.write(path, b"".join(chunks(data)))


class SaysItExists(MemoryFiles):
    def create(self, path: str, data: Content) -> FileInfo:
        self.write(path, b"".join(chunks(data)))
        raise FileExists(path)


@pytest.mark.parametrize(
    ("store", "promise"),
    [
        (IgnoresEtags, "replace-if-unchanged is not atomic: of 4 racing writers of one file 4"),
        (KeepsTheLosersBytes, "replace-if-unchanged kept the bytes of a writer that was told"),
        (NeverReplaces, "replace-if-unchanged is not atomic: of 4 racing writers of one file 0"),
        (CreatesAnyway, "create-if-absent is not atomic: of 4 racing writers of one file 4"),
        (SaysItExists, "create-if-absent is not atomic: of 4 racing writers of one file 0"),
    ],
)
def test_a_store_that_would_lose_a_writers_file_is_refused(
    store: type[MemoryFiles], promise: str
) -> None:
    with pytest.raises(UnsafeStore, match=promise):
        store().probe()
