"""Tables that point outside their lake because it was copied or moved, and not relocated: nothing
may write to them, and nothing may be removed.

A pointer may lead into the lake and its metadata file still name the former place: after the
catalog was rebuilt, or a backup restored.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress

from lakebed.errors import BadName, DamagedTable, FileMissing, PointsElsewhere
from lakebed.names import TableName
from lakebed.ports import Catalog, Files, Pointer, TableMetadata
from lakebed.settings import Root, normalized_location

PathOf = Callable[[str], str | None]
"""The path below the root of an address; None if it is elsewhere."""


def table_folder(location: str) -> str:
    """The folder of a table or view, from the location of its metadata file."""
    before, found, _ = location.rpartition("/metadata")
    return before if found else location.rpartition("/")[0]


def former_root(location: str, metadata: TableMetadata, path_of: PathOf) -> str:
    """The root that a table was written for, if its metadata file at `location` is in this lake but
    names the same folder, or manifest lists in it, below another root. Empty if it does not.
    """
    folder = path_of(table_folder(location))
    if not folder:
        return ""
    lists = (snapshot.manifest_list for snapshot in metadata.snapshots.values())
    named = dict.fromkeys((metadata.location, *map(table_folder, filter(None, lists))))
    for address in named:
        spelt = normalized_location(address).rstrip("/")
        # the former root may also be a folder of this lake, which was moved up from there
        if spelt.endswith(f"/{folder}") and path_of(address) != folder:
            return spelt.removesuffix(f"/{folder}")
    return ""


class MovedTables:
    """Tells tables of a moved lake, which point elsewhere, from tables that were created elsewhere
    on purpose.
    """

    def __init__(self, files: Files, root: Root) -> None:
        self._files, self._root = files, root
        self._folders: dict[str, frozenset[str]] = {}

    def error_for(
        self, name: str, location: str, *, taken: Collection[str]
    ) -> PointsElsewhere | None:
        """The error for a table that points elsewhere but has its folder here; None if it does not.

        A folder that another table uses (`taken`) does not count.
        """
        if self._root.relative(
            location
        ):  # its location is inside the lake: a symbolic link leads out of it
            return PointsElsewhere(name, location, str(self._root))
        here = (
            folder
            for folder in self._candidates(table_folder(location))
            if folder not in taken and self._holds_files(folder)
        )
        found = next(here, None)
        return PointsElsewhere(name, location, self._root.at(found)) if found else None

    def error_in(
        self, name: str, location: str, metadata: TableMetadata, *, path_of: PathOf | None = None
    ) -> PointsElsewhere | None:
        """The error for a table whose metadata file, at `location`, is here but names the folder of
        another place; None if it does not.
        """
        if not former_root(location, metadata, path_of or self._files.path_of):
            return None
        return PointsElsewhere(name, metadata.location, table_folder(location))

    def counterpart(self, location: str) -> str | None:
        """The file here that an address elsewhere could have meant before the move; None if there
        is none.
        """
        folder, _, name = location.rpartition("/")
        paths = (f"{candidate}/{name}" for candidate in self._candidates(folder))
        return next((path for path in paths if self._is_file(path)), None)

    def _candidates(self, folder: str) -> Iterator[str]:
        """Folders here that an address could have meant before the move, whichever part of it was
        the root.
        """
        parts = normalized_location(folder).split("/")
        for at, part in enumerate(parts[:-1]):
            if part not in self._in(""):
                continue
            above = "/".join(parts[at:-1])
            if parts[-1] in self._in(above):
                yield f"{above}/{parts[-1]}"

    def _in(self, folder: str) -> frozenset[str]:
        """Names of folders, listed once: tables that were moved together share one listing."""
        if folder not in self._folders:
            try:
                self._folders[folder] = frozenset(self._files.folders(folder))
            except BadName:  # no folder of a lake has such a path
                self._folders[folder] = frozenset()
        return self._folders[folder]

    def _holds_files(self, folder: str) -> bool:
        return next(iter(self._files.list(folder)), None) is not None

    def _is_file(self, path: str) -> bool:
        try:
            self._files.info(path)
        except (FileMissing, BadName):
            return False
        return True


def require_relocated(
    catalog: Catalog, files: Files, root: Root, tables: Iterable[TableName] = ()
) -> None:
    """Raise for a lake that was copied and not relocated: what is written would go into the
    original.

    All pointers are looked at, and the metadata of `tables`, which are about to be written to.
    """
    if catalog.owns_files:
        return  # the catalog places tables itself
    pointers = catalog.pointers()
    outside = [
        pointer
        for pointer in pointers.values()
        if root.relative(pointer.location) is None and files.path_of(pointer.location) is None
    ]
    taken = (
        {root.relative(table_folder(pointer.location)) or "" for pointer in pointers.values()}
        if outside
        else set()
    )
    strays = MovedTables(files, root)
    for pointer in outside:
        if error := strays.error_for(str(pointer.table), pointer.location, taken=taken):
            raise error
    written = [pointers[table] for table in dict.fromkeys(tables) if table in pointers]
    for table, metadata in _readable(catalog, written).items():
        if error := strays.error_in(str(table), pointers[table].location, metadata):
            raise error


def _readable(catalog: Catalog, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
    """All at once, which is cheaper. Whoever changes a damaged table reports the damage."""
    try:
        return catalog.metadata(pointers)
    except DamagedTable:
        readable: dict[TableName, TableMetadata] = {}
        for pointer in pointers:
            with suppress(DamagedTable):
                readable |= catalog.metadata([pointer])
        return readable
