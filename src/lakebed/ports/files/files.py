"""A lake's files. Paths are relative to its root, with `/` as separator."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lakebed.ports.files.file_content import Content


@dataclass(frozen=True)
class FileInfo:
    """A file as the store reports it; `etag` changes whenever the content does."""

    path: str
    size: int
    etag: str
    modified: datetime
    target: str = ""  # the path of the file itself, if a symbolic link has led to it


@dataclass(frozen=True)
class StrayLink:
    """A symbolic link below a folder that leads to no file or folder below it."""

    path: str
    target: str  # where it leads, for messages
    fault: str  # "leads out of …", as the rest of a sentence


class Files(Protocol):
    """Files below one root.

    A write happens in full or not at all; `BadName` for a path outside the root.
    """

    @property
    def where(self) -> str:
        """The root, for messages."""
        ...

    @property
    def address(self) -> str:
        """The root, to open it again elsewhere: a folder's whole path, or a bucket's URL."""
        ...

    def path_of(self, location: str) -> str | None:
        """The path of the file at an address, whatever its spelling and whatever symbolic links
        lead to it.

        None for an address outside the root, and for the root itself. `FilesUnreachable` or
        `FilesRefused` if the store cannot tell.
        """
        ...

    def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
        """The bytes of a file, or of a range of it; `FileMissing` if it does not exist."""
        ...

    def write(self, path: str, data: Content) -> FileInfo:
        """Create or replace a file; readers see the old or the new content, never a part.

        A stream is written as it is read, with a bounded part of it in memory. If it raises an
        error, that error is raised, and the file stays as it was.
        """
        ...

    def create(self, path: str, data: Content) -> FileInfo:
        """Create a file that does not exist; of several creators exactly one succeeds, the others
        get `FileExists`. A stream is treated as by `write`.
        """
        ...

    def replace(self, path: str, data: bytes, *, etag: str) -> FileInfo:
        """Replace a file that still has this etag: of several writers with one etag exactly one
        succeeds, the others get `FileReplaced`; `FileMissing` if the file does not exist.

        A bucket's etag is made from the content: replacing a file by the same bytes keeps it.
        """
        ...

    def info(self, path: str) -> FileInfo:
        """Size, etag and time of a file; `FileMissing` if it does not exist."""
        ...

    def list(self, folder: str = "") -> Iterator[FileInfo]:
        """All files below a folder, at any depth, ordered by path; none if the folder does not
        exist.
        """
        ...

    def walk(self, folder: str = "") -> Iterator[FileInfo]:
        """The files that `list` gives, in no order and a few at a time: however many there are,
        they need not fit into memory. Symbolic links are left out.
        """
        ...

    def follow(self, folder: str, *, stray: Callable[[StrayLink], None]) -> Iterator[FileInfo]:
        """The files that `walk` gives, and under their own paths those that symbolic links lead to,
        with `target`. A link that leads to nothing below the folder is handed to `stray`, which may
        raise an error. A bucket has no links.
        """
        ...

    def folders(self, folder: str = "") -> tuple[str, ...]:
        """The names of the folders directly below a folder, in order."""
        ...

    def delete(self, path: str, *, etag: str | None = None) -> None:
        """Remove a file if it exists; with `etag`, only if it still has that etag."""
        ...

    def clear(self, folder: str) -> None:
        """Remove all files below a folder, and the folder if the store has folders; never the root
        itself.
        """
        ...

    def move(self, path: str, to: str, *, etag: str | None = None) -> FileInfo:
        """Move a file without replacing another: `FileExists` if the target exists, `FileMissing`
        without a source.

        With `etag`, only if the file still has that etag; otherwise it stays, and the result is
        `FileMissing`.
        """
        ...

    def probe(self) -> None:
        """Check that the store answers and that `create` and `replace` are atomic;
        `FilesUnreachable` or `UnsafeStore` otherwise.
        """
        ...
