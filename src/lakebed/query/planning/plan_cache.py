"""Metadata and plans of earlier queries: a metadata file never changes, and neither does a plan
made from it.
"""

from collections.abc import Collection
from contextlib import suppress
from threading import Lock

from cachetools import LRUCache

from lakebed.names import TableName
from lakebed.ports import Catalog, Pointer, Predicate, Scan, Scans, TableMetadata


class PlanCache:
    """Keeps the metadata and plans that were used last: at most so many of each, and plans of so
    many files in all.
    """

    def __init__(self, most: int = 256, most_files: int = 100_000) -> None:
        least = (
            most_files // most
        )  # what a plan counts for at least, so that there are never more than `most`
        self._metadata: LRUCache[str, TableMetadata] = LRUCache(most)
        self._scans: LRUCache[tuple[object, ...], Scan] = LRUCache(
            most_files, getsizeof=lambda scan: max(len(scan.files), least)
        )
        self._lock = Lock()

    def scan(
        self,
        scans: Scans,
        pointer: Pointer,
        snapshot: int | None,
        schema: int,
        predicate: Predicate | None,
        *,
        columns: tuple[str, ...] | None = None,
    ) -> Scan:
        """The plan of a table: the one made before, if there is one."""
        key = (pointer, snapshot, schema, predicate, columns)
        with self._lock:
            if key in self._scans:
                return self._scans[key]
        found = scans.plan(
            pointer, snapshot=snapshot, schema=schema, predicate=predicate, columns=columns
        )
        with self._lock, suppress(ValueError):  # a plan larger than the whole cache is not kept
            self._scans[key] = found
        return found

    def metadata(
        self, catalog: Catalog, pointers: Collection[Pointer]
    ) -> dict[TableName, TableMetadata]:
        """The metadata of tables, read from the catalog where it is not known yet."""
        with self._lock:
            known = {
                pointer.table: self._metadata[pointer.location]
                for pointer in pointers
                if pointer.location in self._metadata
            }
        missing = [pointer for pointer in pointers if pointer.table not in known]
        found = catalog.metadata(missing) if missing else {}
        with self._lock:
            self._metadata.update({pointer.location: found[pointer.table] for pointer in missing})
        return known | found
