"""Files in a local folder."""

import errno
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lakebed.engines.files.folder_errors import translated
from lakebed.engines.files.links import LinkedFolder, broken_link
from lakebed.engines.files.moving import etag_of, move_file, remove_file
from lakebed.engines.files.new_file import new_file
from lakebed.engines.files.path_lock import FULL, NO_LOCKS, locked, remove_unless_held
from lakebed.errors import BadName, FileExists, FileMissing, FileReplaced, UnsafeStore
from lakebed.ports.files.file_content import Content
from lakebed.ports.files.file_paths import (
    is_lock,
    is_unfinished,
    require_folder,
    require_path,
    require_range,
)
from lakebed.ports.files.file_probe import PROBE_FOLDER, require_atomic_writes
from lakebed.ports.files.files import FileInfo, StrayLink
from lakebed.settings import normalized_location

_NO_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS}
_ABANDONED_AFTER = 24 * 3600.0


class FolderFiles:
    """Files below one folder, on one file system with hard links.

    Every write is synced before it becomes visible. Whoever replaces, moves or removes a file holds
    the lock of its path, so that no writer's file is lost to another's; `create` links, and needs
    no lock. A symbolic link is followed only within the root, and listed by `follow` alone. A
    killed process may leave an unfinished file or a lock: no listing shows it, a listing removes it
    once it is more than a day old, and it blocks nobody.
    """

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.realpath(root))

    @property
    def where(self) -> str:
        return str(self._root)

    @property
    def address(self) -> str:
        return str(self._root)

    def path_of(self, location: str) -> str | None:
        place = normalized_location(location)
        if not place.startswith("/"):
            return None  # in a bucket
        with self._refusing(place):
            real = _real(place)
        below = f"{self._root}/".replace("//", "/")
        return real.removeprefix(below) if real.startswith(below) else None

    def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
        require_range(start, length)
        place, _ = self._regular_file(path)
        with self._refusing(path), place.open("rb") as file:
            file.seek(start)
            return file.read() if length is None else file.read(length)

    def write(self, path: str, data: Content) -> FileInfo:
        place = self._place(path)
        with self._unfinished(path, place, data) as unfinished:
            seen = unfinished.stat()  # once linked, it may be removed at any time
            with locked(place, unless=NO_LOCKS):
                unfinished.replace(place)
            _sync(place.parent)
            return _info(path, seen)

    def create(self, path: str, data: Content) -> FileInfo:
        place = self._place(path)
        with self._unfinished(path, place, data) as unfinished:
            self._link(unfinished, place, path)
            _sync(place.parent)
            return _info(path, unfinished.stat())

    def replace(self, path: str, data: bytes, *, etag: str) -> FileInfo:
        """Other programs take no lock: a file that one of them puts here within the microseconds
        between check and renaming is replaced too.
        """
        self._require_etag(path, etag)
        place = self._followed(path)
        with self._unfinished(path, place, data) as unfinished:
            seen = unfinished.stat()
            with self._requiring_locks(), locked(place):
                self._require_etag(path, etag)
                unfinished.replace(place)
            _sync(place.parent)
            return _info(path, seen)

    def info(self, path: str) -> FileInfo:
        _, seen = self._regular_file(path)
        return _info(path, seen)

    def list(self, folder: str = "") -> Iterator[FileInfo]:
        top = require_folder(folder)
        return self._below(
            self._followed(top) if top else self._root, f"{top}/" if top else "", in_order=True
        )

    def walk(self, folder: str = "") -> Iterator[FileInfo]:
        top = require_folder(folder)
        return self._below(
            self._followed(top) if top else self._root, f"{top}/" if top else "", in_order=False
        )

    def follow(self, folder: str, *, stray: Callable[[StrayLink], None]) -> Iterator[FileInfo]:
        top = require_folder(folder)
        place, prefix = self._root, ""
        if top:
            place, prefix = self._followed(top), f"{top}/"
            if link := broken_link(self._root / top):
                stray(StrayLink(top, os.path.realpath(link), "leads to nothing"))
        return self._below(place, prefix, in_order=False, links=LinkedFolder(place, prefix, stray))

    def folders(self, folder: str = "") -> tuple[str, ...]:
        top = require_folder(folder)
        entries = self._entries(self._followed(top) if top else self._root)
        return tuple(sorted(name.removesuffix("/") for name, _ in entries if name.endswith("/")))

    def delete(self, path: str, *, etag: str | None = None) -> None:
        place = self._place(path)
        with (
            self._refusing(path),
            suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError),
        ):
            place.lstat()  # no lock for what is not there
            with locked(place, unless=NO_LOCKS | FULL):  # files can be removed from a full disk
                if etag is None:
                    place.unlink()
                else:
                    remove_file(place, etag)
            _sync(place.parent)

    def clear(self, folder: str) -> None:
        place = self._place(folder)
        with self._refusing(folder), suppress(FileNotFoundError, NotADirectoryError):
            shutil.rmtree(place)

    def move(self, path: str, to: str, *, etag: str | None = None) -> FileInfo:
        """Of several concurrent moves of a file exactly one succeeds; a file that replaces the
        source meanwhile stays.
        """
        seen, source, target = self.info(path).etag, self._place(path), self._place(to)
        if etag not in {None, seen}:
            raise FileMissing(path)
        with self._refusing(path):
            self._make_folder(target.parent, to)
            with locked(source, unless=NO_LOCKS):
                self._link(source, target, to)
                if not move_file(source, target, seen):
                    raise FileMissing(path)
            _sync(source.parent)
            _sync(target.parent)
            return _info(to, target.stat())

    def probe(self) -> None:
        require_atomic_writes(self, create=self.create, replace=self.replace)
        with suppress(OSError):
            (self._root / PROBE_FOLDER).rmdir()

    def _below(
        self, folder: Path, prefix: str, *, in_order: bool, links: LinkedFolder | None = None
    ) -> Iterator[FileInfo]:
        # Folders are sorted with their slash, so that paths come in order.
        entries = self._entries(folder)
        for name, entry in sorted(entries) if in_order else entries:
            path = prefix + name
            if name.endswith("/"):
                yield from self._below(Path(entry.path), path, in_order=in_order, links=links)
            elif entry.is_symlink():
                if links:
                    yield from self._linked(Path(entry.path), path, links)
            elif is_unfinished(name) or is_lock(name):
                _remove_abandoned(entry)
            else:
                with suppress(FileNotFoundError):  # deleted since the folder was read
                    seen = entry.stat(follow_symlinks=False)
                    yield _info(path, seen, _target(entry, path, links))

    def _linked(self, link: Path, path: str, links: LinkedFolder) -> Iterator[FileInfo]:
        with self._refusing(path):
            place = links.target(link, path)
        if place is None:
            return
        if place.is_dir():
            inside = replace(links, within=(*links.within, link.parent))
            yield from self._below(place, f"{path}/", in_order=False, links=inside)
        else:
            with self._refusing(path):
                yield _info(path, place.stat(), links.own_path(place))

    def _entries(self, folder: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
        with (
            self._refusing(str(folder)),
            suppress(FileNotFoundError, NotADirectoryError),
            os.scandir(folder) as entries,
        ):
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield f"{entry.name}/", entry
                elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                    yield entry.name, entry

    def _place(self, path: str) -> Path:
        """The real path of a file; its last part is not resolved, so that a link can be replaced or
        removed.
        """
        place = self._root / require_path(path)
        return self._below_root(path, os.path.realpath(place.parent)) / place.name

    def _followed(self, path: str) -> Path:
        return self._below_root(path, os.path.realpath(self._root / require_path(path)))

    def _regular_file(self, path: str) -> tuple[Path, os.stat_result]:
        """A file's real path and its state; anything else is missing, as opening a pipe would
        block.
        """
        place = self._followed(path)
        with self._refusing(path):
            seen = place.stat()
        if not stat.S_ISREG(seen.st_mode):
            raise FileMissing(path)
        return place, seen

    def _below_root(self, path: str, real: str) -> Path:
        if not Path(real).is_relative_to(self._root):
            raise BadName("path", path, "a symbolic link leads it out of the lake")
        return Path(real)

    def _unfinished(self, path: str, place: Path, data: Content) -> AbstractContextManager[Path]:
        """Write and sync the data to a temporary file beside its path."""
        with self._refusing(path):
            self._make_folder(place.parent, path)
        return new_file(place.parent, data, refusing=lambda: self._refusing(path))

    def _require_etag(self, path: str, etag: str) -> None:
        if self.info(path).etag != etag:
            raise FileReplaced(path)

    @contextmanager
    def _requiring_locks(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            raise UnsafeStore(
                self.where, f"its file system has no file locks: {error.strerror}."
            ) from None

    def _make_folder(self, folder: Path, path: str) -> None:
        if folder.is_dir():
            return
        try:
            self._make_folder(folder.parent, path)
            folder.mkdir(exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise BadName("path", path, "one of its folders has the name of a file") from None
        _sync(folder.parent)

    def _link(self, source: Path, target: Path, path: str) -> None:
        try:
            os.link(source, target, follow_symlinks=False)
        except FileExistsError:
            raise FileExists(path) from None
        except OSError as error:
            if error.errno in _NO_HARD_LINKS:
                raise UnsafeStore(
                    self.where, f"its file system has no hard links: {error.strerror}."
                ) from None
            raise

    def _refusing(self, path: str) -> AbstractContextManager[None]:
        return translated(self.where, path)


def _real(place: str) -> str:
    """The path with links resolved; it need not exist, but any other failure is an error."""
    try:
        return os.path.realpath(place, strict=True)
    except (FileNotFoundError, NotADirectoryError):
        return os.path.realpath(place)


def _info(path: str, seen: os.stat_result, target: str = "") -> FileInfo:
    modified = datetime.fromtimestamp(seen.st_mtime, UTC)
    return FileInfo(path, seen.st_size, etag_of(seen), modified, target)


def _target(entry: os.DirEntry[str], path: str, links: LinkedFolder | None) -> str:
    """The path of a file itself; empty if it is listed under that path."""
    if links is None or not links.within:
        return ""
    own = links.own_path(Path(entry.path))
    return "" if own == path else own


def _sync(folder: Path) -> None:
    """Sync a folder: only then does a new name survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_abandoned(entry: os.DirEntry[str]) -> None:
    with suppress(OSError):
        if time.time() - entry.stat(follow_symlinks=False).st_mtime <= _ABANDONED_AFTER:
            return
        if is_lock(entry.name):
            remove_unless_held(Path(entry.path))
        else:
            Path(entry.path).unlink()
