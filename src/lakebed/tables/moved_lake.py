"""Tables that point out of their lake: it was copied or moved, and not relocated. Whoever writes or removes is refused."""

from collections.abc import Collection, Iterator

from lakebed.errors import BadName, PointsElsewhere
from lakebed.ports import Catalog, Files
from lakebed.settings import Root, normalized_location


def table_folder(location: str) -> str:
    """The address of the folder that a table or view has its metadata files in a folder of."""
    before, found, _ = location.rpartition("/metadata")
    return before if found else location.rpartition("/")[0]


class MovedTables:
    """Tells tables of this lake that point elsewhere from those that lie elsewhere by the will of their makers."""

    def __init__(self, files: Files, root: Root) -> None:
        self._files, self._root = files, root
        self._folders: dict[str, frozenset[str]] = {}

    def error_for(self, name: str, location: str, *, taken: Collection[str]) -> PointsElsewhere | None:
        """Why a table that lies elsewhere belongs here: a folder of its path is here, and no other table's (`taken`)."""
        if self._root.relative(location):  # by its address it is here: a symbolic link leads out of the lake
            return PointsElsewhere(name, location, str(self._root))
        here = (folder for folder in self._namesakes(location) if folder not in taken and self._holds_files(folder))
        found = next(here, None)
        return PointsElsewhere(name, location, self._root.at(found)) if found else None

    def _namesakes(self, location: str) -> Iterator[str]:
        """What the folder would be here, whichever part of its address was the root, if there is such a folder."""
        parts = normalized_location(table_folder(location)).split("/")
        for at, part in enumerate(parts[:-1]):
            above = "/".join(parts[at:-1])
            if part in self._in("") and parts[-1] in self._in(above):
                yield f"{above}/{parts[-1]}"

    def _in(self, folder: str) -> frozenset[str]:
        """Names of folders, listed once: tables that lie together elsewhere cost one look, not one each."""
        if folder not in self._folders:
            try:
                self._folders[folder] = frozenset(self._files.folders(folder))
            except BadName:  # no folder of ours has such a path
                self._folders[folder] = frozenset()
        return self._folders[folder]

    def _holds_files(self, folder: str) -> bool:
        return next(iter(self._files.list(folder)), None) is not None


def require_relocated(catalog: Catalog, files: Files, root: Root) -> None:
    """Refuse to work on a lake that was copied and not relocated: what is written would go into the original."""
    if catalog.owns_files:
        return  # it places tables where it likes
    pointers = catalog.pointers().values()
    outside = [one for one in pointers if root.relative(one.location) is None and files.path_of(one.location) is None]
    taken = {root.relative(table_folder(one.location)) or "" for one in pointers} if outside else set()
    strays = MovedTables(files, root)
    for one in outside:
        if found := strays.error_for(str(one.table), one.location, taken=taken):
            raise found
