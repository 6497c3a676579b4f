"""Files in a bucket or container, as obstore does them the same way everywhere."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from uuid import uuid4

import obstore
from obstore.exceptions import PreconditionError

from lakebed.engines.files.s3_errors import answers
from lakebed.errors import FileExists, FileMissing, FileReplaced, FilesUnreachable
from lakebed.ports.files.file_content import Content, in_parts
from lakebed.ports.files.file_paths import require_folder, require_path, require_range
from lakebed.ports.files.files import FileInfo, StrayLink

if TYPE_CHECKING:
    from obstore import UpdateVersion

_AT_ONCE = 1000
_PART = 16 * 1024 * 1024


class ObjectFiles:
    """Files below a prefix of a store.

    The server writes, creates and replaces files atomically. A move has two steps: the new file
    appears whole and replaces nothing, then the old one is deleted; a crash between them leaves
    both. A file that replaces one within the milliseconds between check and deletion by etag is
    deleted too. A stream is read whole before it is written.
    """

    tag: ClassVar[Literal["e_tag", "version"]] = "e_tag"  # by which the server replaces a file
    maker: ClassVar[str] = "lakebed_maker"  # metadata by which a writer recognises its own file

    def __init__(self, store: Any, address: str) -> None:
        self._store, self._address = store, address

    @property
    def where(self) -> str:
        return self._address

    @property
    def address(self) -> str:
        return self._address

    def path_of(self, location: str) -> str | None:
        below = f"{self._address.rstrip('/')}/"
        path = location.removeprefix(below) if location.startswith(below) else ""
        return path.rstrip("/") or None

    def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
        require_range(start, length)
        if start == 0 and length is None:
            with self._asking(path):
                return bytes(obstore.get(self._store, require_path(path)).bytes())
        size = self.info(path).size  # servers reject a range beyond the end
        end = size if length is None else min(size, start + length)
        if start >= end:
            return b""
        with self._asking(path):
            return bytes(obstore.get_range(self._store, require_path(path), start=start, end=end))

    def write(self, path: str, data: Content) -> FileInfo:
        whole = _whole(data)
        with self._asking(path):
            put = obstore.put(self._store, require_path(path), whole)
        return written(path, whole, self._tag(put[self.tag]))

    def create(self, path: str, data: Content) -> FileInfo:
        whole = _whole(data)
        return self._made(path, lambda maker: self._put_new(path, whole, maker))

    def replace(self, path: str, data: bytes, *, etag: str) -> FileInfo:
        return self._made(path, lambda maker: self._put_instead(path, data, etag, maker))

    def info(self, path: str) -> FileInfo:
        with self._asking(path):
            seen = obstore.head(self._store, require_path(path))
        return FileInfo(path, seen["size"], self._tag(seen[self.tag]), seen["last_modified"])

    def list(self, folder: str = "") -> Iterator[FileInfo]:
        """The whole listing is loaded and sorted here: not every server sorts by the full path."""
        return iter(self._sorted(require_folder(folder)))

    def walk(self, folder: str = "") -> Iterator[FileInfo]:
        return self._below(require_folder(folder))

    def follow(self, folder: str, *, stray: Callable[[StrayLink], None]) -> Iterator[FileInfo]:
        return self.walk(folder)

    def folders(self, folder: str = "") -> tuple[str, ...]:
        top = require_folder(folder)
        with self._asking(folder):
            listed = obstore.list_with_delimiter(self._store, f"{top}/" if top else None)
        return tuple(
            sorted(prefix.rstrip("/").rsplit("/", 1)[-1] for prefix in listed["common_prefixes"])
        )

    def delete(self, path: str, *, etag: str | None = None) -> None:
        if etag is not None and self._etag(path) != etag:
            return
        with suppress(FileMissing), self._asking(path):
            obstore.delete(self._store, require_path(path))

    def clear(self, folder: str) -> None:
        paths = [info.path for info in self._sorted(require_path(folder))]
        for start in range(0, len(paths), _AT_ONCE):
            with self._asking(folder):
                obstore.delete(self._store, paths[start : start + _AT_ONCE])

    def move(self, path: str, to: str, *, etag: str | None = None) -> FileInfo:
        source = self.info(path)
        if etag not in {None, source.etag}:
            raise FileMissing(path)
        moved = self.create(to, self.read(path))
        if self._etag(path) != source.etag:  # another move was first, or a file replaced it
            self.delete(to)
            raise FileMissing(path)
        self.delete(path, etag=source.etag)
        return moved

    def _etag(self, path: str) -> str | None:
        try:
            return self.info(path).etag
        except FileMissing:
            return None

    def _made(self, path: str, put: Callable[[str], FileInfo]) -> FileInfo:
        maker = uuid4().hex
        try:
            return put(maker)
        except (FileExists, FileReplaced, FileMissing, FilesUnreachable):
            # The response to an earlier attempt may have been lost: the file says who made it.
            if made := self._made_by(path, maker):
                return made
            raise

    def _put_new(self, path: str, data: bytes, maker: str) -> FileInfo:
        with self._asking(path):
            put = obstore.put(
                self._store, require_path(path), data, mode="create", attributes={self.maker: maker}
            )
        return written(path, data, self._tag(put[self.tag]))

    def _put_instead(self, path: str, data: bytes, etag: str, maker: str) -> FileInfo:
        with self._asking(path):
            try:
                put = obstore.put(
                    self._store,
                    require_path(path),
                    data,
                    mode=self._still(etag),
                    attributes={self.maker: maker},
                )
            except PreconditionError:
                # not every server tells a file that is gone from one that has changed
                obstore.head(self._store, require_path(path))
                raise FileReplaced(path) from None
        return written(path, data, self._tag(put[self.tag]))

    def _tag(self, given: str | None) -> str:
        return given or ""

    def _still(self, etag: str) -> "UpdateVersion":
        return {"e_tag": etag} if self.tag == "e_tag" else {"version": etag}

    def _made_by(self, path: str, maker: str) -> FileInfo | None:
        """The file, if our own attempt made it."""
        try:
            with self._asking(path):
                found = obstore.get(self._store, require_path(path), options={"head": True})
        except (FileMissing, FilesUnreachable):
            return None
        meta = found.meta
        ours = found.attributes.get(self.maker) == maker
        return (
            FileInfo(path, meta["size"], self._tag(meta[self.tag]), meta["last_modified"])
            if ours
            else None
        )

    def _sorted(self, folder: str) -> tuple[FileInfo, ...]:
        return tuple(sorted(self._below(folder), key=lambda info: info.path))

    def _below(self, folder: str) -> Iterator[FileInfo]:
        batches = iter(obstore.list(self._store, folder or None, chunk_size=_AT_ONCE))
        while True:
            with self._asking(folder):
                batch = next(batches, ())
            if not batch:
                return
            for seen in batch:
                yield FileInfo(
                    seen["path"], seen["size"], self._tag(seen[self.tag]), seen["last_modified"]
                )

    def _asking(self, path: str) -> AbstractContextManager[None]:
        return answers(self.where, path)


def written(path: str, data: bytes, etag: str | None) -> FileInfo:
    """A file just written, with the time of this machine."""
    return FileInfo(path, len(data), etag or "", datetime.now(UTC))


def _whole(data: Content) -> bytes:
    return data if isinstance(data, bytes) else b"".join(in_parts(data, _PART))
