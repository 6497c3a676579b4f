"""Tables that were committed to after a backup was made. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from lakebed.care.fsck.pointing import newest
from lakebed.ports import MetadataFile, Pointer
from lakebed.settings import Root


@dataclass(frozen=True)
class Newer:
    """A table with a newer metadata file than the catalog points at. `readable`: whether the old
    one is.
    """

    pointer: Pointer
    file: MetadataFile
    readable: bool


def newer(
    pointers: Iterable[Pointer], files: Iterable[MetadataFile], root: Root
) -> tuple[Newer, ...]:
    """Matched by uuid; by folder if the metadata file that the catalog points at cannot be read."""
    known = list(files)
    by_path = {root.relative(file.location): file for file in known}
    found = []
    for pointer in pointers:
        path = root.relative(pointer.location)
        present = by_path.get(path)
        last = newest([file for file in known if _same_table(file, present, path, root)])
        if last and root.relative(last.location) != path:
            found.append(Newer(pointer, last, present is not None))
    return tuple(found)


def _same_table(
    file: MetadataFile, present: MetadataFile | None, path: str | None, root: Root
) -> bool:
    if present:
        return file.metadata.uuid == present.metadata.uuid
    folder = (path or "").rpartition("/")[0]
    return bool(folder) and (root.relative(file.location) or "").startswith(f"{folder}/")
