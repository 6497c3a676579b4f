"""The files of a folder that are to be adopted, as they are listed."""

from collections.abc import Iterator
from hashlib import sha256

from lakebed.ports import FileInfo, Files


class FolderListing:
    """Lists a folder; `digest` is complete once all files were taken, and does not depend on
    their order.
    """

    def __init__(self, files: Files, folder: str) -> None:
        self._files, self._folder = files, folder
        self.digest = 0

    def __iter__(self) -> Iterator[FileInfo]:
        self.digest = 0
        for info in self._files.walk(self._folder):
            if not is_hidden(below(self._folder, info.path)):
                told = f"{info.path}\0{info.size}\0{info.etag}".encode(errors="surrogatepass")
                self.digest = (self.digest + int.from_bytes(sha256(told).digest())) % 2**256
                yield info


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
