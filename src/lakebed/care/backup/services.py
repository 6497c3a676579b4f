"""What backups work with, and where they are kept."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from lakebed.care.relocation import RelocationServices
from lakebed.ports import Files


class OpenPlace(Protocol):
    """Opens a bucket by its address, or a folder by its path."""

    def __call__(self, store: str) -> Files: ...


@dataclass(frozen=True)
class BackupServices:
    """What a relocation works with, and the places where backups are kept."""

    relocation: RelocationServices
    open_place: OpenPlace


@dataclass(frozen=True)
class BackupPlace:
    """A file in a bucket or in a folder."""

    store: str
    path: str

    @property
    def shown(self) -> str:
        return f"{self.store}/{self.path}"


def backup_place(text: str, *, now: datetime) -> BackupPlace:
    """The named file; for a folder, a file in it that is named by the time."""
    name = f"lakebed-backup-{now:%Y%m%dT%H%M%SZ}.zip"
    if text.startswith("s3://"):
        parts = urlsplit(text)
        path = parts.path.lstrip("/")
        is_folder = not path or path.endswith("/")
        return BackupPlace(f"s3://{parts.netloc}", f"{path}{name}" if is_folder else path)
    file = Path(text).expanduser().absolute()
    if text.endswith("/") or file.is_dir():
        file = file / name
    return BackupPlace(str(file.parent), file.name)
