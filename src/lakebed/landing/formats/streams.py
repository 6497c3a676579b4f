"""Landing files as streams, fetched in ranges."""

import codecs
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile, GzipFile
from typing import IO, cast

from lakebed.ports import FileInfo, Files
from lakebed.ports.files.ranged_file import RangedFile

WINDOW = 64 * 1024
_GZIP = b"\x1f\x8b"
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


def text_head(
    files: Files, file: FileInfo, *, gzipped: bool, encoding: str, size: int = WINDOW
) -> tuple[str, bool]:
    """The first characters of a text file, and whether that is all; `BrokenFile` for another
    encoding.
    """
    data, whole = head(files, file, gzipped=gzipped, size=size)
    if not gzipped and data.startswith(_GZIP):
        raise BrokenFile("it holds gzip data, so its name must end in .gz")
    try:
        text = codecs.getincrementaldecoder(encoding)("strict").decode(data, final=whole)
    except UnicodeDecodeError as error:
        raise BrokenFile(
            f"it is not {encoding}: byte 0x{data[error.start]:02x} at {error.start}"
        ) from None
    if "\0" in text:
        raise BrokenFile(
            "it holds NUL characters: it is damaged, not text, or in another encoding than"
            " zone.yaml says"
        )
    return text.removeprefix("\ufeff"), whole
