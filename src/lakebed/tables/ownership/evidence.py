"""Whether a root and a database without identities belong together, judging by their tables."""

from collections.abc import Iterator

from lakebed.ports import Catalog, Files
from lakebed.settings import DATA, Root


def points_into(catalog: Catalog, files: Files, root: Root) -> bool:
    """Whether some table of the catalog, or a dropped one, lies in the root.

    A REST catalog places tables itself, so where they lie proves nothing.
    """
    return catalog.owns_files or any(
        root.relative(location) or files.path_of(location) for location in _locations(catalog)
    )


def knows_tables(catalog: Catalog) -> bool:
    """Whether the catalog has any table, or a dropped one."""
    return next(_locations(catalog), None) is not None


def _locations(catalog: Catalog) -> Iterator[str]:
    yield from (pointer.location for pointer in catalog.pointers().values())
    yield from (dropped.location for dropped in catalog.dropped())


def has_table_files(files: Files) -> bool:
    """Whether the root has metadata of a table, whichever catalog knows it."""
    return any(_has_metadata(files, folder) for folder in _table_folders(files))


def _table_folders(files: Files) -> Iterator[str]:
    for namespace in files.folders():
        if namespace == DATA:
            continue
        for layer in files.folders(f"{namespace}/warehouse"):
            for table in files.folders(f"{namespace}/warehouse/{layer}"):
                yield f"{namespace}/warehouse/{layer}/{table}"


def _has_metadata(files: Files, folder: str) -> bool:
    return next(iter(files.walk(f"{folder}/metadata")), None) is not None
