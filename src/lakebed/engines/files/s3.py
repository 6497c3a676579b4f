"""Files in a bucket.

Only `open_files` imports this module, so that a folder lake never loads obstore.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from uuid import uuid4

import obstore
from obstore.exceptions import PreconditionError

from lakebed.engines.files.s3_errors import answers
from lakebed.engines.files.s3_store import PROBING, RequestTimeouts, open_store, working
from lakebed.errors import FileExists, FileMissing, FileReplaced, FilesUnreachable
from lakebed.ports.files.file_paths import require_folder, require_path, require_range
from lakebed.ports.files.file_probe import require_atomic_writes
from lakebed.ports.files.files import FileInfo
from lakebed.settings import FilesSettings, Root

# files up to this size are moved by reading and creating them, larger ones by the server
_THROUGH_US = 32 * 1024 * 1024
_AT_ONCE = 1000
_MAKER = "lakebed-maker"  # metadata by which a writer recognises its own file


class S3Files:
    """Files below a prefix of a bucket.

    The server writes and creates files atomically. A move has two steps: the new file appears whole
    and replaces nothing, then the old one is deleted; a crash between them leaves both, and two
    moves of one file to two paths may both succeed. A file over 32 MiB is copied by the server
    (AWS: up to 5 GB) on condition that the target does not exist. AWS checks that atomically;
    SeaweedFS 4.48 checks first, so two such copies that race for one path may both seem to succeed.
    S3 cannot delete a file by its etag: a file that replaces it within the milliseconds between
    check and deletion is deleted too. The time of a file just written is by this machine's clock;
    `info` gives the server's.
    """

    def __init__(
        self, root: Root, settings: FilesSettings, *, patience: RequestTimeouts | None = None
    ) -> None:
        self._root, self._settings = root, settings
        self._store = open_store(root, settings, patience or working(settings))

    @property
    def where(self) -> str:
        at = f" at {self._settings.endpoint}" if self._settings.endpoint else ""
        return f"{self._root.url}{at}"

    def path_of(self, location: str) -> str | None:
        return (self._root.relative(location) or "").rstrip("/") or None

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

    def write(self, path: str, data: bytes) -> FileInfo:
        with self._asking(path):
            return _written(path, data, obstore.put(self._store, require_path(path), data)["e_tag"])

    def create(self, path: str, data: bytes) -> FileInfo:
        maker = uuid4().hex
        try:
            return self._put_new(path, data, maker)
        except (FileExists, FilesUnreachable):
            # The response to an earlier attempt may have been lost: the file says who made it.
            if made := self._made_by(path, maker):
                return made
            raise

    def replace(self, path: str, data: bytes, *, etag: str) -> FileInfo:
        maker = uuid4().hex
        try:
            return self._put_instead(path, data, etag, maker)
        except (FileReplaced, FileMissing, FilesUnreachable):
            if made := self._made_by(path, maker):  # as in `create`
                return made
            raise

    def info(self, path: str) -> FileInfo:
        with self._asking(path):
            seen = obstore.head(self._store, require_path(path))
        return FileInfo(path, seen["size"], seen["e_tag"] or "", seen["last_modified"])

    def list(self, folder: str = "") -> Iterator[FileInfo]:
        """The whole listing is loaded and sorted here: not every server sorts by the full path."""
        return iter(self._sorted(require_folder(folder)))

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
        with self._asking(path):
            obstore.delete(self._store, require_path(path))

    def clear(self, folder: str) -> None:
        paths = [info.path for info in self._sorted(require_path(folder))]
        for start in range(0, len(paths), _AT_ONCE):
            with self._asking(folder):
                obstore.delete(self._store, paths[start : start + _AT_ONCE])

    def move(self, path: str, to: str, *, etag: str | None = None) -> FileInfo:
        """A file that replaced the source meanwhile stays; see the class for what is atomic."""
        source = self.info(path)
        if etag not in {None, source.etag}:
            raise FileMissing(path)
        if source.size <= _THROUGH_US:
            moved = self.create(to, self._read_if(path, source.etag))
        else:
            with self._asking(to):
                obstore.copy(self._store, require_path(path), require_path(to), overwrite=False)
            moved = self.info(to)
        now = self._etag(path)
        if now is None or (now != source.etag and source.size > _THROUGH_US):
            # another move was first, or the server may have copied a file that replaced it
            self.delete(to)
            raise FileMissing(path)
        self.delete(path, etag=source.etag)
        return moved

    def probe(self) -> None:
        strict = S3Files(self._root, self._settings, patience=PROBING)
        # Not through `create` and `replace`, whose own checks would hide a server that ignores the
        # condition.
        require_atomic_writes(
            strict,
            create=lambda path, data: strict._put_new(path, data, uuid4().hex),
            replace=lambda path, data, etag: strict._put_instead(path, data, etag, uuid4().hex),
        )

    def _read_if(self, path: str, etag: str) -> bytes:
        """The bytes of the file with this etag; `FileMissing` if a different file is there."""
        with self._asking(path):
            return bytes(
                obstore.get(self._store, require_path(path), options={"if_match": etag}).bytes()
            )

    def _etag(self, path: str) -> str | None:
        try:
            return self.info(path).etag
        except FileMissing:
            return None

    def _put_new(self, path: str, data: bytes, maker: str) -> FileInfo:
        with self._asking(path):
            put = obstore.put(
                self._store, require_path(path), data, mode="create", attributes={_MAKER: maker}
            )
        return _written(path, data, put["e_tag"])

    def _put_instead(self, path: str, data: bytes, etag: str, maker: str) -> FileInfo:
        with self._asking(path):
            try:
                put = obstore.put(
                    self._store,
                    require_path(path),
                    data,
                    mode={"e_tag": etag},
                    attributes={_MAKER: maker},
                )
            except PreconditionError:
                # not every server tells a file that is gone from one that has changed
                obstore.head(self._store, require_path(path))
                raise FileReplaced(path) from None
        return _written(path, data, put["e_tag"])

    def _made_by(self, path: str, maker: str) -> FileInfo | None:
        """The file, if our own attempt made it."""
        try:
            with self._asking(path):
                found = obstore.get(self._store, require_path(path), options={"head": True})
        except (FileMissing, FilesUnreachable):
            return None
        meta = found.meta
        ours = found.attributes.get(_MAKER) == maker
        return (
            FileInfo(path, meta["size"], meta["e_tag"] or "", meta["last_modified"])
            if ours
            else None
        )

    def _sorted(self, folder: str) -> tuple[FileInfo, ...]:
        with self._asking(folder):
            listed = [
                seen
                for batch in obstore.list(self._store, folder or None, chunk_size=1000)
                for seen in batch
            ]
        infos = (
            FileInfo(seen["path"], seen["size"], seen["e_tag"] or "", seen["last_modified"])
            for seen in listed
        )
        return tuple(sorted(infos, key=lambda info: info.path))

    def _asking(self, path: str) -> AbstractContextManager[None]:
        return answers(self.where, path)


def _written(path: str, data: bytes, etag: str | None) -> FileInfo:
    return FileInfo(path, len(data), etag or "", datetime.now(UTC))
