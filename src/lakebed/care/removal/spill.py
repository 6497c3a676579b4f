"""A listing in a temporary file: a lake may have more files than fit into memory."""

import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

from lakebed.ports import FileInfo

_IN_MEMORY = 1024 * 1024  # packed; more goes to disk


@dataclass(frozen=True)
class SpilledListing:
    """Paths and sizes of files, as of when they were listed; read as often as wanted."""

    _spool: SpooledTemporaryFile[bytes]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        self._spool.seek(0)
        with gzip.GzipFile(fileobj=self._spool, mode="rb") as packed:
            for line in packed:
                path, size = json.loads(line)
                yield path, size


@contextmanager
def spilled(files: Iterable[FileInfo]) -> Iterator[SpilledListing]:
    """The listing, complete before the block begins; it is gone after the block."""
    with SpooledTemporaryFile(_IN_MEMORY) as spool:
        with gzip.GzipFile(fileobj=spool, mode="wb", compresslevel=1) as packed:
            for file in files:
                packed.write(json.dumps([file.path, file.size]).encode() + b"\n")
        yield SpilledListing(spool)
