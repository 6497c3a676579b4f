"""Content hashes of files, computed only where size, time and etag do not identify the content."""

import re
from collections.abc import Iterator
from hashlib import md5, sha256
from math import ceil

from lakebed.landing.formats.streams import open_stream
from lakebed.ports import FileInfo, Files

_PIECE = 4 * 1024 * 1024
_MIB = 1024 * 1024
# A bucket's etag is the MD5 of the content; after a multipart upload, the MD5 of the parts' MD5s
# and their number.
_OF_CONTENT = re.compile(r'"?([0-9a-f]{32})(?:-(\d{1,5}))?"?')
_PARTS = (
    5,
    6,
    8,
    10,
    12,
    15,
    16,
    17,
    20,
    24,
    25,
    32,
    40,
    48,
    50,
    64,
    96,
    100,
    128,
    192,
    200,
    256,
    400,
    500,
    512,
    1000,
    1024,
)


def is_content_hash(etag: str) -> bool:
    """Whether an etag is a hash of the content, so that no other hash is needed."""
    return _OF_CONTENT.fullmatch(etag) is not None


def content_digest(files: Files, file: FileInfo) -> str:
    """The SHA-256 of a file's content."""
    digest = sha256()
    for piece in _pieces(files, file, _PIECE):
        digest.update(piece)
    return digest.hexdigest()


def would_have_etag(files: Files, file: FileInfo, etag: str) -> bool:
    """Whether a bucket would give this content this etag, uploaded whole or in parts of a common
    size.
    """
    found, now = _OF_CONTENT.fullmatch(etag), _OF_CONTENT.fullmatch(file.etag)
    # two MD5s of whole contents, and they differ
    if found is None or (now and not found[2] and not now[2]):
        return False
    if found[2] is None:
        return _md5(files, file) == found[1]
    return any(
        _md5_of_parts(files, file, size) == found[1]
        for size in _part_sizes(file.size, int(found[2]))
    )


def _part_sizes(size: int, parts: int) -> Iterator[int]:
    """Common part sizes that would split a file of this size into so many parts."""
    if parts == 1:
        yield size
    elif parts > 1:
        yield from (mib * _MIB for mib in _PARTS if ceil(size / (mib * _MIB)) == parts)


def _md5(files: Files, file: FileInfo) -> str:
    digest = md5(usedforsecurity=False)
    for piece in _pieces(files, file, _PIECE):
        digest.update(piece)
    return digest.hexdigest()


def _md5_of_parts(files: Files, file: FileInfo, part: int) -> str:
    whole, left, current = md5(usedforsecurity=False), part, md5(usedforsecurity=False)
    for piece in _pieces(files, file, _MIB):
        current.update(piece[:left])
        left -= len(piece[:left])
        if left == 0:
            whole.update(current.digest())
            current, left = md5(usedforsecurity=False), part
    if left != part:
        whole.update(current.digest())
    return whole.hexdigest()


def _pieces(files: Files, file: FileInfo, size: int) -> Iterator[bytes]:
    with open_stream(files, file, gzipped=False) as stream:
        while piece := stream.read(size):
            yield piece
