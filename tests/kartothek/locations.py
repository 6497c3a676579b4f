"""Locations in which datasets are tested."""

from collections import Counter
from pathlib import Path
from typing import Any

from lakebed.engines.files import FolderFiles
from lakebed.ports.files.files import Files
from lakebed.testing.files import MemoryFiles


def location(kind: str, folder: Path) -> Files:
    return MemoryFiles() if kind == "memory" else FolderFiles(folder)


class CountedFiles:
    """Files whose calls are counted, and bytes read."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.calls: Counter[str] = Counter()
        self.read_bytes = 0

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self._files, name)

    def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
        self.calls["read"] += 1
        data = self._files.read(path, start=start, length=length)
        self.read_bytes += len(data)
        return data


def paths(files: Files) -> set[str]:
    return {info.path for info in files.list()}
