"""Tables that point outside their lake because it was copied or moved, and not relocated: nothing
may write to them.
"""

from collections.abc import Collection, Iterator

from lakebed.errors import BadName, PointsElsewhere
from lakebed.ports import Catalog, Files
from lakebed.settings import Root, normalized_location


def table_folder(location: str) -> str:
    """The folder of a table or view, from the location of its metadata file."""
    before, found, _ = location.rpartition("/metadata")
    return before if found else location.rpartition("/")[0]


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
            for folder in self._candidates(location)
            if folder not in taken and self._holds_files(folder)
        )
        found = next(here, None)
        return PointsElsewhere(name, location, self._root.at(found)) if found else None

    def _candidates(self, location: str) -> Iterator[str]:
        """Folders here that the location could have meant before the move, whichever part of it was
        the root.
        """
        parts = normalized_location(table_folder(location)).split("/")
        for at, part in enumerate(parts[:-1]):
            above = "/".join(parts[at:-1])
            if part in self._in("") and parts[-1] in self._in(above):
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


def require_relocated(catalog: Catalog, files: Files, root: Root) -> None:
    """Raise for a lake that was copied and not relocated: what is written would go into the
    original.
    """
    if catalog.owns_files:
        return  # the catalog places tables itself
    pointers = catalog.pointers().values()
    outside = [
        one
        for one in pointers
        if root.relative(one.location) is None and files.path_of(one.location) is None
    ]
    taken = (
        {root.relative(table_folder(one.location)) or "" for one in pointers} if outside else set()
    )
    strays = MovedTables(files, root)
    for one in outside:
        if found := strays.error_for(str(one.table), one.location, taken=taken):
            raise found
