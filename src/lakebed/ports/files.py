"""What we ask of a file store. Paths are relative to the lake's root, with `/` between their parts."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class FileInfo:
    """One file as the store saw it: `etag` changes whenever the content does."""

    path: str
    size: int
    etag: str
    modified: datetime


class Files(Protocol):
    """Files below one root. Every write is whole or absent; a path that leaves the root is refused with `BadName`."""

    @property
    def where(self) -> str:
        """The root, for messages."""
        ...

    def path_of(self, location: str) -> str | None:
        """The path of what is at an address, however that is spelt and whatever symbolic links lead there.

        None for what lies elsewhere, and for the root itself. `FilesUnreachable` or `FilesRefused` if it cannot be told.
        """
        ...

    def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
        """The bytes of a file, or of a range of it; `FileMissing` if there is none."""
        ...

    def write(self, path: str, data: bytes) -> FileInfo:
        """Put a file there, replacing what was there; readers see the old or the new, never a part."""
        ...

    def create(self, path: str, data: bytes) -> FileInfo:
        """Put a file where there is none; of several creators exactly one succeeds, the others get `FileExists`."""
        ...

    def info(self, path: str) -> FileInfo:
        """Size, etag and time of a file; `FileMissing` if there is none."""
        ...

    def list(self, folder: str = "") -> Iterator[FileInfo]:
        """All files below a folder, at any depth, in the order of their paths; an absent folder has none."""
        ...

    def folders(self, folder: str = "") -> tuple[str, ...]:
        """The names of the folders directly below a folder, in order; looks no deeper."""
        ...

    def delete(self, path: str, *, etag: str | None = None) -> None:
        """Remove a file, with `etag` only the one that has it: another stays. One that is not there is no error."""
        ...

    def clear(self, folder: str) -> None:
        """Remove all files below a folder, and the folder where there is such a thing; never the root itself."""
        ...

    def move(self, path: str, to: str, *, etag: str | None = None) -> FileInfo:
        """Give a file another path, replacing nothing: `FileExists` if something is there, `FileMissing` without a source.

        With `etag` only the file that has it: one that took its place stays there, and the answer is `FileMissing`.
        """
        ...

    def probe(self) -> None:
        """Prove that the store answers and that `create` is atomic; `FilesUnreachable` or `UnsafeStore` otherwise."""
        ...
