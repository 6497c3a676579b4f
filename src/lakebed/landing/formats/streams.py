"""Landing files as streams, fetched in ranges."""

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile, GzipFile
from typing import IO, cast

from lakebed.ports import FileInfo, Files
from lakebed.ports.files.ranged_file import RangedFile

WINDOW = 64 * 1024
_AHEAD = 4 * 1024 * 1024  # when a file is read to its end


class BrokenFile(Exception):
    """The bytes are not what the file's name promises."""


@contextmanager
def open_stream(
    files: Files, file: FileInfo, *, gzipped: bool, ahead: int = _AHEAD
) -> Iterator[IO[bytes]]:
    """The uncompressed bytes of a file; `BrokenFile` if its gzip data is damaged."""
    with io.BufferedReader(RangedFile(files, file.path, size=file.size), ahead) as whole:
        try:
            yield cast("IO[bytes]", GzipFile(fileobj=whole)) if gzipped else whole
        except EOFError:
            raise BrokenFile("its gzip data ends too early") from None
        except (BadGzipFile, zlib.error) as error:
            raise BrokenFile(f"its gzip data is damaged: {error}") from None


def head(files: Files, file: FileInfo, *, gzipped: bool, size: int = WINDOW) -> tuple[bytes, bool]:
    """The first uncompressed bytes of a file, and whether that is all of it."""
    with open_stream(files, file, gzipped=gzipped, ahead=WINDOW) as stream:
        data = stream.read(size + 1)
    return data[:size], len(data) <= size


def tail(files: Files, file: FileInfo, *, size: int = WINDOW) -> bytes:
    """The last bytes of a file."""
    start = max(0, file.size - size)
    return files.read(file.path, start=start, length=file.size - start)
