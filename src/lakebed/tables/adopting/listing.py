"""The files of a folder that are to be adopted, as they are listed."""

from collections.abc import Iterator
from hashlib import sha256

from lakebed.errors import LinkRefused
from lakebed.ports import FileInfo, Files, StrayLink


class FolderListing:
    """Lists a folder; `digest` is complete once all files were taken, and does not depend on
    their order.
    """

    def __init__(self, files: Files, folder: str) -> None:
        self._files, self._folder = files, folder
        self.digest = 0

    def __iter__(self) -> Iterator[FileInfo]:
        self.digest = 0
        for info in self._files.follow(self._folder, stray=self._refuse):
            if not self._is_hidden(info.path) and not self._is_double(info):
                told = f"{info.path}\0{info.size}\0{info.etag}".encode(errors="surrogatepass")
                self.digest = (self.digest + int.from_bytes(sha256(told).digest())) % 2**256
                yield info

    def _is_hidden(self, path: str) -> bool:
        return is_hidden(below(self._folder, path))

    def _is_double(self, info: FileInfo) -> bool:
        """Whether a symbolic link has led to a file that is taken under its own path."""
        return bool(info.target) and not self._is_hidden(info.target)

    def _refuse(self, link: StrayLink) -> None:
        if not self._is_hidden(link.path):
            raise LinkRefused(link.path, f"{link.fault}: to {link.target}")


def below(folder: str, path: str) -> str:
    """A path from its folder on."""
    return path.removeprefix(f"{folder}/") if folder else path


def is_hidden(path: str) -> bool:
    """Whether Spark and Hive would not read it either: `_SUCCESS`, `.x.crc`, `_temporary/…`; a
    partition may begin with `_`.
    """
    *folders, name = path.split("/")
    return name.startswith(("_", ".")) or any(
        part.startswith(".") or (part.startswith("_") and "=" not in part) for part in folders
    )
