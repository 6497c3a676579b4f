"""Opening stores: that of a root, and for files by URL the lake's own or another one."""

from pathlib import Path
from urllib.parse import urlsplit

from lakebed.engines.files.folder import FolderFiles
from lakebed.ports.files.files import FileInfo, Files
from lakebed.settings import FilesSettings, Root, normalized_location


def open_files(root: Root, settings: FilesSettings) -> Files:
    """The files below a root. The store is not contacted yet; `probe` does that."""
    if root.is_bucket:
        from lakebed.engines.files.s3 import S3Files  # late: a folder lake must not load obstore

        return S3Files(root, settings)
    return FolderFiles(root.folder)


class FilesByUrl:
    """Finds the store for a location, and the path in it."""

    def __init__(self, root: Root, files: Files, settings: FilesSettings) -> None:
        self._root, self._files, self._settings = root, files, settings
        self._stores: dict[str, Files] = {}

    def locate(self, location: str) -> tuple[Files, str]:
        """The store of a location, and the path in it."""
        if path := self._root.relative(location):
            return self._files, path
        place = normalized_location(location)
        if place.startswith("s3://"):
            bucket, path = f"s3://{urlsplit(place).netloc}", urlsplit(place).path
            if bucket not in self._stores:
                self._stores[bucket] = open_files(Root.parse(bucket), self._settings)
            return self._stores[bucket], path.lstrip("/")
        return FolderFiles(Path("/")), place.lstrip("/")

    def read(self, location: str) -> bytes:
        """The bytes of a file; `FileMissing` if there is none."""
        files, path = self.locate(location)
        return files.read(path)

    def write(self, location: str, data: bytes) -> None:
        """Write a file."""
        files, path = self.locate(location)
        files.write(path, data)

    def info(self, location: str) -> FileInfo:
        """Size and time of a file; `FileMissing` if there is none."""
        files, path = self.locate(location)
        return files.info(path)
