"""Reading a file in full: its digest and, for Parquet, every page decoded and its checksum
verified.

Spark writes a CRC with every page, so that any changed byte is noticed; PyIceberg and pyarrow do
not. In a local folder Spark also leaves a file with CRCs, one per 512 bytes, beside each file.
"""

import zlib
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from lakebed.errors import FileMissing
from lakebed.ports import FileContent
from lakebed.ports.files.files import Files
from lakebed.ports.files.ranged_file import RangedFile

_IN_MEMORY = 64 * 1024 * 1024  # a file up to this size is fetched once and read twice
_PIECE = 16 * 1024 * 1024


def content_of(files: Files, path: str, *, rows: int | None) -> FileContent:
    """The content of a file; `rows` is the number in its manifest.

    `FileMissing` if there is no file.
    """
    size = files.info(path).size
    data = files.read(path) if size <= _IN_MEMORY else None
    beside = _sums_beside(files, path)
    digest, agrees = sha256(), True
    for piece in (data,) if data is not None else _pieces(files, path, size):
        digest.update(piece)
        agrees = agrees and (beside is None or beside.agree(piece))
    fault = "" if agrees else "it does not match the checksums that Spark left beside it"
    if not fault and path.endswith(".parquet"):
        fault = _fault(files, path, data, size, rows)
    return FileContent(digest.hexdigest(), size, fault)


class _Beside:
    """Hadoop's checksum file: `crc`, a zero, the chunk size, and a CRC-32 for each chunk."""

    def __init__(self, data: bytes) -> None:
        self._each = int.from_bytes(data[4:8])
        self._sums = data[8:]
        self._at = 0

    def agree(self, piece: bytes) -> bool:
        """Whether the next bytes match their checksums; all pieces but the last consist of whole
        chunks.
        """
        for start in range(0, len(piece), self._each):
            wanted = self._sums[self._at : self._at + 4]
            if zlib.crc32(piece[start : start + self._each]).to_bytes(4) != wanted:
                return False
            self._at += 4
        return True


def _sums_beside(files: Files, path: str) -> _Beside | None:
    if "://" in files.where:  # Hadoop writes checksums beside local files only
        return None
    folder, slash, name = path.rpartition("/")
    try:
        data = files.read(f"{folder}{slash}.{name}.crc")
    except FileMissing:
        return None
    return _Beside(data) if data.startswith(b"crc\0") and int.from_bytes(data[4:8]) > 0 else None


def _pieces(files: Files, path: str, size: int) -> Iterator[bytes]:
    return (files.read(path, start=start, length=_PIECE) for start in range(0, size, _PIECE))


def _fault(files: Files, path: str, data: bytes | None, size: int, rows: int | None) -> str:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    source: Any = (
        pa.BufferReader(data)
        if data is not None
        else pa.PythonFile(RangedFile(files, path, size=size), mode="r")
    )
    try:
        with ParquetFile(source, page_checksum_verification=True) as file:
            if rows is not None and file.metadata.num_rows != rows:
                return f"it holds {file.metadata.num_rows:,} rows, its manifest says {rows:,}"
            for _ in file.iter_batches():
                pass
    except NotImplementedError:
        return ""  # a type or codec that pyarrow does not know is not a fault
    except Exception as error:  # whatever Parquet readers raise on other bytes
        return (
            f"{type(error).__name__}:"
            f" {str(error).splitlines()[0] if str(error) else 'it cannot be decoded'}"
        )
    return ""
