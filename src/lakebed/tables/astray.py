"""Tables that point out of their lake: it was copied or moved, and not relocated. Whoever writes or removes is refused."""

from collections.abc import Callable, Collection, Iterator

from lakebed.errors import BadName, PointsElsewhere
from lakebed.ports import Catalog, Files
from lakebed.settings import Root, one_spelling

PathOf = Callable[[str], str | None]


def folder_of_metadata(location: str) -> str:
    """The address of the folder that a table or view has its metadata files in a folder of."""
    before, found, _ = location.rpartition("/metadata")
    return before if found else location.rpartition("/")[0]


def astray(name: str, location: str, files: Files, root: Root, *, taken: Collection[str]) -> PointsElsewhere | None:
    """Whether a table that lies elsewhere belongs here: a folder of its path is here, and no other table's (`taken`).

    A table that somebody made elsewhere, or that belongs to another lake, does not.
    """
    if root.relative(location):  # by its address it is here: a symbolic link leads out of the lake
        return PointsElsewhere(name, location, str(root))
    here = (folder for folder in _namesakes(location, files) if folder not in taken and _holds_files(files, folder))
    found = next(here, None)
    return PointsElsewhere(name, location, root.at(found)) if found else None


def _namesakes(location: str, files: Files) -> Iterator[str]:
    """What the folder would be here, whichever part of its address was the root."""
    parts, tops = one_spelling(folder_of_metadata(location)).split("/"), set(files.folders())
    for at, part in enumerate(parts[:-1]):
        if part in tops:
            yield "/".join(parts[at:])


def _holds_files(files: Files, folder: str) -> bool:
    try:
        return next(iter(files.list(folder)), None) is not None
    except BadName:
        return False


def refuse_astray(catalog: Catalog, files: Files, root: Root) -> None:
    """Refuse to work on a lake that was copied and not relocated: what is written would go into the original."""
    if catalog.owns_files:
        return  # it places tables where it likes
    pointers = catalog.pointers().values()
    outside = [one for one in pointers if root.relative(one.location) is None and files.path_of(one.location) is None]
    taken = {root.relative(folder_of_metadata(one.location)) or "" for one in pointers} if outside else set()
    for one in outside:
        if found := astray(str(one.table), one.location, files, root, taken=taken):
            raise found
