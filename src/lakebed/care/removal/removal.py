"""Removing files safely: the list of files is written first, and checked again just before they are
removed.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Literal

from lakebed.errors import FileMissing
from lakebed.names import TableName
from lakebed.ports import Files
from lakebed.settings import DATA
from lakebed.work import OnProgress

FOLDER = f"{DATA}/care/removals"
WAREHOUSE = "warehouse"
_AT_ONCE = 16
_CHUNK = 1000
# a table may have taken up such a file; it is not the table's to remove
_OTHERS = ("landing", "pipelines")


@dataclass(frozen=True)
class Removal:
    """Files to be removed once a table's snapshots, or the whole table, are gone from the catalog.
    Survives a crash.
    """

    id: str
    kind: Literal["expired", "dropped"]
    table: str
    uuid: str
    snapshots: tuple[int, ...]
    files: Mapping[str, int]  # path below the root → bytes

    @property
    def name(self) -> TableName:
        return TableName.parse(self.table)


def write_removal(files: Files, removal: Removal) -> None:
    """Write the list of files, before any of them becomes unreachable."""
    files.write(_place(removal), json.dumps(asdict(removal)).encode())


def discard_removal(files: Files, removal: Removal) -> None:
    """Delete the list of a removal that is done, or will not happen."""
    files.delete(_place(removal))


def read_removals(files: Files) -> tuple[Removal, ...]:
    """Removals that were started but not finished."""
    found: list[Removal] = []
    for info in files.list(FOLDER):
        if info.path.endswith(".json"):
            with suppress(FileMissing):  # another care has finished it meanwhile
                found.append(_read(files, info.path))
    return tuple(found)


def awaited_files(files: Files) -> frozenset[str]:
    """The files of removals that are not finished. They are no orphans: a snapshot that was
    protected while it expired needs them.

    Read this after looking what tables reach: a removal is written before its files become
    unreachable.
    """
    return frozenset(path for removal in read_removals(files) for path in removal.files)


def _read(files: Files, path: str) -> Removal:
    told = json.loads(files.read(path))
    told.pop("family", None)  # former versions asked only some of the tables
    return Removal(**told | {"snapshots": tuple(told["snapshots"])})


def _place(removal: Removal) -> str:
    return f"{FOLDER}/{removal.id}.json"


def removable(path: str | None, folders: AbstractSet[str] = frozenset()) -> bool:
    """Whether a table's file at this path may be removed: it is in a warehouse, or in one of the
    folders of tables. A table may have taken up files anywhere; those are others'.
    """
    if path is None:
        return False
    parts = path.split("/")
    own = len(parts) > 2 and parts[0] != DATA and parts[1] not in _OTHERS
    return own and (bool(folder_of(path)) or below(path, folders))


def folder_of(path: str) -> str:
    """The table folder `{namespace}/warehouse/{layer}/{name}` of a file; empty if it is in none."""
    parts = path.split("/")
    return "/".join(parts[:4]) if len(parts) > 4 and parts[1] == WAREHOUSE else ""


def checksum_of(path: str) -> str:
    """Where Hadoop keeps the checksum of a local file."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.crc"


def belongs_to(path: str) -> str:
    """The file that a checksum belongs to; any other file belongs to itself."""
    folder, slash, name = path.rpartition("/")
    return (
        f"{folder}{slash}{name[1:-4]}" if name.startswith(".") and name.endswith(".crc") else path
    )


def below(path: str, folders: AbstractSet[str]) -> bool:
    """Whether a path is in one of the folders; takes the same time however many there are."""
    return any(path[:end] in folders for end, sign in enumerate(path) if sign == "/")


def delete_files(files: Files, paths: Collection[str], *, on_progress: OnProgress) -> int:
    """Remove files, several at a time, and return how many; a missing file is not an error."""
    return delete_each(files, paths, count=len(paths), on_progress=on_progress)


def delete_each(files: Files, paths: Iterable[str], *, count: int, on_progress: OnProgress) -> int:
    """Remove `count` files, a few of which are in memory at a time."""
    done, more = 0, iter(paths)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while some := list(islice(more, _CHUNK)):
            for done, _ in enumerate(pool.map(files.delete, some), done + 1):  # noqa: B020
                on_progress(done, count)
    return done


def sized(files: Files, known: Mapping[str, int | None]) -> dict[str, int]:
    """The size of each file, from the store where metadata does not say; missing files are left
    out.
    """
    unknown = [path for path, size in known.items() if size is None]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = dict(zip(unknown, pool.map(lambda path: _size(files, path), unknown), strict=True))
    return {path: size for path, size in _joined(known.items(), asked) if size is not None}


def _joined(
    known: Iterable[tuple[str, int | None]], asked: Mapping[str, int | None]
) -> Iterator[tuple[str, int | None]]:
    for path, size in known:
        yield path, asked[path] if size is None else size


def _size(files: Files, path: str) -> int | None:
    try:
        return files.info(path).size
    except FileMissing:
        return None
