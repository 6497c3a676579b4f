"""Files in a bucket.

Only `open_files` imports this module, so that a folder lake never loads obstore.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from uuid import uuid4

import obstore

from lakebed.engines.files.aws_keys import key_source
from lakebed.engines.files.cloud.object_files import ObjectFiles, written
from lakebed.engines.files.s3_multipart import multipart_upload, ranges
from lakebed.engines.files.s3_requests import S3Requests, delete_if
from lakebed.engines.files.s3_store import PROBING, RequestTimeouts, open_store, working
from lakebed.errors import FileExists, FileMissing, MissingExtra
from lakebed.ports.files.file_content import Content, in_parts
from lakebed.ports.files.file_paths import require_path
from lakebed.ports.files.file_probe import require_atomic_writes
from lakebed.ports.files.files import FileInfo
from lakebed.settings import FilesSettings, Root

_MIB = 1024 * 1024
_AT_ONCE = 1000


@dataclass(frozen=True)
class TransferSizes:
    """From which sizes on files are transferred in which way."""

    part: int = 16 * _MIB  # of an upload: S3 takes 10,000 parts, at least 5 MiB each
    through_us: int = 32 * _MIB  # a smaller file is moved by reading and creating it
    one_copy: int = 5 * 1024 * _MIB  # a larger file is copied in parts: AWS's limit of a copy
    copied_part: int = 512 * _MIB


class S3Files(ObjectFiles):
    """Files below a prefix of a bucket.

    The server writes and creates files atomically. A move has two steps: the new file appears whole
    and replaces nothing, then the old one is deleted; a crash between them leaves both, and two
    moves of one file to two paths may both succeed. A file over 32 MiB is copied by the server,
    over 5 GiB in parts, and one that is created from a stream over 16 MiB is uploaded in parts, all
    on condition that the target does not exist. AWS checks that atomically; SeaweedFS 4.48 checks
    first, so two such writers that race for one path may both seem to succeed.
    A file is deleted by its etag, which AWS and SeaweedFS check atomically; on a server that does
    not know the condition, or with keys that only obstore can find, a file that replaces it within
    the milliseconds between check and deletion is deleted too. The time of a file just written is
    by this machine's clock; `info` gives the server's.
    """

    maker = "lakebed-maker"

    def __init__(
        self,
        root: Root,
        settings: FilesSettings,
        *,
        patience: RequestTimeouts | None = None,
        sizes: TransferSizes = TransferSizes(),  # noqa: B008 - frozen
    ) -> None:
        self._root, self._settings, self._sizes = root, settings, sizes
        super().__init__(open_store(root, settings, patience or working(settings)), root.url)
        keys = key_source(settings)
        self._requests = S3Requests(root, settings, self.where, keys) if keys else None

    @property
    def where(self) -> str:
        at = f" at {self._settings.endpoint}" if self._settings.endpoint else ""
        return f"{self.address}{at}"

    def path_of(self, location: str) -> str | None:
        return (self._root.relative(location) or "").rstrip("/") or None

    def write(self, path: str, data: Content) -> FileInfo:
        small, parts = self._small_or_parts(data)
        if parts is not None:
            return self._upload(require_path(path), parts, replaces=True)
        with self._asking(path):
            put = obstore.put(self._store, require_path(path), small)
        return written(path, small, put["e_tag"])

    def create(self, path: str, data: Content) -> FileInfo:
        small, parts = self._small_or_parts(data)
        if parts is None:
            return self._made(path, lambda maker: self._put_new(path, small, maker))
        if self._etag(path) is not None:
            raise FileExists(path)  # before everything is uploaded in vain
        return self._upload(require_path(path), parts)

    def delete(self, path: str, *, etag: str | None = None) -> None:
        if etag is not None and self._etag(path) != etag:
            return
        if etag is not None and self._requests:
            delete_if(self._requests, path, etag)
            return
        with self._asking(path):
            obstore.delete(self._store, require_path(path))

    def move(self, path: str, to: str, *, etag: str | None = None) -> FileInfo:
        """A file that replaced the source meanwhile stays; see the class for what is atomic."""
        source = self.info(path)
        if etag not in {None, source.etag}:
            raise FileMissing(path)
        by_server = source.size > self._sizes.through_us
        if by_server:
            moved = self._copy(source, require_path(to))
        else:
            moved = self.create(to, self._read_if(path, source.etag))
        now = self._etag(path)
        if now is None or (now != source.etag and by_server):
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

    def _small_or_parts(self, data: Content) -> tuple[bytes, Iterator[bytes] | None]:
        """Bytes for a single request, or else the parts of a large stream."""
        if isinstance(data, bytes):
            return data, None
        parts = in_parts(data, self._sizes.part)
        first = next(parts)
        if len(first) < self._sizes.part:
            return first, None
        if self._requests is None:  # obstore alone knows the machine's credentials
            return b"".join([first, *parts]), None
        return b"", chain([first], parts)

    def _upload(self, path: str, parts: Iterator[bytes], *, replaces: bool = False) -> FileInfo:
        def put(maker: str) -> FileInfo:
            with multipart_upload(self._signed(), path, metadata={self.maker: maker}) as upload:
                for part in parts:
                    upload.add(part)
                upload.complete(replaces=replaces)
            return self.info(path) if replaces else self._own(path, maker)

        return self._made(path, put)

    def _copy(self, source: FileInfo, to: str) -> FileInfo:
        """Let the server copy a file on condition that no file is at the new path."""
        if source.size > self._sizes.one_copy:
            return self._made(to, lambda maker: self._copy_in_parts(source, to, maker))
        with self._asking(to):
            obstore.copy(self._store, source.path, to, overwrite=False)
        return self.info(to)

    def _copy_in_parts(self, source: FileInfo, to: str, maker: str) -> FileInfo:
        if self._etag(to) is not None:
            raise FileExists(to)
        with multipart_upload(self._signed(), to, metadata={self.maker: maker}) as upload:
            for start, end in ranges(source.size, self._sizes.copied_part):
                upload.copy(source.path, source.etag, start, end)
            upload.complete()
        return self._own(to, maker)

    def _signed(self) -> S3Requests:
        if self._requests is None:
            raise MissingExtra("aws", "moving a file over 5 GiB with the machine's own credentials")
        return self._requests

    def _own(self, path: str, maker: str) -> FileInfo:
        """The file that we made; `FileExists` if a server that checks first let another replace
        it.
        """
        made = self._made_by(path, maker)
        if made is None:
            raise FileExists(path)
        return made
