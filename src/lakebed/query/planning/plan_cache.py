"""What queries have seen before: metadata files never change, and neither do plans made of them."""

from collections import OrderedDict
from collections.abc import Collection
from threading import Lock

from lakebed.names import TableName
from lakebed.ports import Catalog, Pointer, Predicate, Scan, Scans, TableMetadata


class PlanCache:
    """Metadata that was read before, and plans made of it: a metadata file never changes. The newest few are kept."""

    def __init__(self, most: int = 256, most_files: int = 100_000) -> None:
        self._most, self._metadata, self._lock = most, OrderedDict[str, TableMetadata](), Lock()
        self._most_files, self._scans = most_files, OrderedDict[tuple[object, ...], Scan]()

    def scan(self, scans: Scans, pointer: Pointer, snapshot: int | None, schema: int, predicate: Predicate | None) -> Scan:
        """The plan of a table; one that was made before if there is one."""
        key = (pointer, snapshot, schema, predicate)
        with self._lock:
            if key in self._scans:
                self._scans.move_to_end(key)
                return self._scans[key]
        found = scans.plan(pointer, snapshot=snapshot, schema=schema, predicate=predicate)
        with self._lock:
            self._scans[key] = found
            while len(self._scans) > self._most or sum(len(scan.files) for scan in self._scans.values()) > self._most_files:
                self._scans.popitem(last=False)
        return found

    def metadata(self, catalog: Catalog, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        """Those that are known, and the others from the catalog."""
        with self._lock:
            known = {
                pointer.table: self._metadata[pointer.location] for pointer in pointers if pointer.location in self._metadata
            }
        missing = [pointer for pointer in pointers if pointer.table not in known]
        found = catalog.metadata(missing) if missing else {}
        with self._lock:
            self._metadata.update({pointer.location: found[pointer.table] for pointer in missing})
            while len(self._metadata) > self._most:
                self._metadata.popitem(last=False)
        return known | found
