"""Reading and writing metadata files: plain files on disk, all else through PyIceberg.

PyIceberg would import PyArrow and pandas for a file on disk, which takes longer than a publication.
"""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlparse

from pyiceberg.io import (
    FileIO,
    InputFile,
    InputStream,
    OutputFile,
    OutputStream,
    load_file_io,
)


def open_file_io(properties: Mapping[str, str], location: str) -> FileIO:
    """What reads and writes files at a location."""
    if urlparse(location).scheme in ("", "file"):
        return DiskFileIO()
    return load_file_io(dict(properties), location)


class DiskFileIO(FileIO):
    """Files on this machine's disk."""

    def new_input(self, location: str) -> "DiskFile":
        return DiskFile(location)

    def new_output(self, location: str) -> "DiskFile":
        return DiskFile(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        _path(location if isinstance(location, str) else location.location).unlink()


class DiskFile(InputFile, OutputFile):
    """A file on disk, to be read or written."""

    def __len__(self) -> int:
        return _path(self.location).stat().st_size

    def exists(self) -> bool:
        return _path(self.location).exists()

    def open(self, seekable: bool = True) -> InputStream:
        return _path(self.location).open("rb")

    def create(self, overwrite: bool = False) -> OutputStream:
        path = _path(self.location)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb" if overwrite else "xb")

    def to_input_file(self) -> "DiskFile":
        return self


def _path(location: str) -> Path:
    """As PyIceberg reads it: the path of a URL, or a plain path."""
    parts = urlparse(location)
    return Path(f"{parts.netloc}{parts.path}") if parts.scheme else Path(location)
