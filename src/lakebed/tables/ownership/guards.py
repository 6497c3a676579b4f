"""The files and leases of a lake, for processes whose database owns it."""

from collections.abc import Callable, Iterator
from datetime import datetime

from lakebed.errors import CopiedLake, LeaseLost, NotOwner, WrongDatabase
from lakebed.ports import FileInfo, Files, Lease, Leases, StrayLink
from lakebed.ports.files.file_content import Content
from lakebed.tables.ownership.owner import Ownership


class OwnedFiles:
    """Files that anybody may read, and only the owner may change."""

    def __init__(self, files: Files, ownership: Ownership) -> None:
        self._files, self._ownership = files, ownership

    @property
    def where(self) -> str:
        return self._files.where

    @property
    def address(self) -> str:
        return self._files.address

    def path_of(self, location: str) -> str | None:
        return self._files.path_of(location)

    def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
        return self._files.read(path, start=start, length=length)

    def write(self, path: str, data: Content) -> FileInfo:
        self._ownership.require_recently()
        return self._files.write(path, data)

    def create(self, path: str, data: Content) -> FileInfo:
        self._ownership.require_recently()
        return self._files.create(path, data)

    def replace(self, path: str, data: bytes, *, etag: str) -> FileInfo:
        self._ownership.require_recently()
        return self._files.replace(path, data, etag=etag)

    def info(self, path: str) -> FileInfo:
        return self._files.info(path)

    def list(self, folder: str = "") -> Iterator[FileInfo]:
        return self._files.list(folder)

    def walk(self, folder: str = "") -> Iterator[FileInfo]:
        return self._files.walk(folder)

    def follow(self, folder: str, *, stray: Callable[[StrayLink], None]) -> Iterator[FileInfo]:
        return self._files.follow(folder, stray=stray)

    def folders(self, folder: str = "") -> tuple[str, ...]:
        return self._files.folders(folder)

    def delete(self, path: str, *, etag: str | None = None) -> None:
        self._ownership.require_recently()
        self._files.delete(path, etag=etag)

    def clear(self, folder: str) -> None:
        self._ownership.require_recently()
        self._files.clear(folder)

    def move(self, path: str, to: str, *, etag: str | None = None) -> FileInfo:
        self._ownership.require_recently()
        return self._files.move(path, to, etag=etag)

    def probe(self) -> None:
        self._files.probe()


class OwnedLeases:
    """Leases that only the owner's processes take and keep."""

    def __init__(self, leases: Leases, ownership: Ownership) -> None:
        self._leases, self._ownership = leases, ownership

    def acquire(self, name: str, *, holder: str, limit: float) -> Lease:
        self._ownership.require()
        return self._leases.acquire(name, holder=holder, limit=limit)

    def renew(self, lease: Lease) -> None:
        try:
            self._ownership.require()
        except (CopiedLake, NotOwner, WrongDatabase) as refused:
            raise LeaseLost(lease.name, "another database") from refused
        self._leases.renew(lease)

    def release(self, lease: Lease) -> None:
        self._leases.release(lease)

    def holder(self, name: str) -> Lease | None:
        return self._leases.holder(name)

    def store_time(self) -> datetime:
        return self._leases.store_time()
