"""Names of a table's columns in its data files, read from their footers once and cached."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.scan.manifest_cache import ManifestCache
from lakebed.engines.iceberg.scan.manifests import ManifestEntry
from lakebed.ports import ColumnGroup, ScanColumn, ScanFile
from lakebed.ports.files.ranged_file import RangedFile
from lakebed.settings import normalized_location

_FILES = 128  # reading the footers of more takes too long before the first row
_WAYS = 4  # different schemas that are read side by side
_AT_ONCE = 8

StoredColumn = tuple[int, str, str]  # a column of a file: field id, name, type


class Footers:
    """Caches the top-level columns of each footer: footers never change."""

    def __init__(self, places: FilesByUrl, remembered: ManifestCache) -> None:
        self._places, self._remembered = places, remembered

    def stored(
        self, columns: Sequence[ScanColumn], files: Sequence[tuple[ManifestEntry, ScanFile]]
    ) -> tuple[ColumnGroup, ...]:
        """The files grouped by how they store these columns; nothing if unknown or if there are too
        many groups.
        """
        if not 0 < len(files) <= _FILES:
            return ()
        return grouped(
            columns,
            zip(
                self._held([entry for entry, _ in files]), (file for _, file in files), strict=True
            ),
        )

    def _held(self, entries: Sequence[ManifestEntry]) -> list[tuple[StoredColumn, ...]]:
        """Several at once where each takes a request."""
        if len(entries) > 1 and entries[0].location.startswith("s3://"):
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                return list(pool.map(self._look, entries))
        return [self._look(entry) for entry in entries]

    def _look(self, entry: ManifestEntry) -> tuple[StoredColumn, ...]:
        try:
            held: tuple[StoredColumn, ...] = self._remembered.get(
                "footer", entry.location, lambda: self._read(entry)
            )
        except Exception:  # the engine reports a lost or damaged file when it reads it by field id
            return ()
        return held

    def _read(self, entry: ManifestEntry) -> tuple[StoredColumn, ...]:
        import pyarrow.parquet as pq

        files, path = self._places.locate(normalized_location(entry.location))
        with pq.ParquetFile(RangedFile(files, path, size=entry.size)) as parquet:
            return held_columns(parquet.schema_arrow)


def held_columns(schema: Any) -> tuple[StoredColumn, ...]:
    """The columns of a file by its Arrow schema; none if one has no field id, or if names differ
    only in case.
    """
    ids = [int((field.metadata or {}).get(b"PARQUET:field_id", -1)) for field in schema]
    if -1 in ids or len({name.casefold() for name in schema.names}) < len(schema.names):
        return ()
    # Arrow's metadata in a file distinguishes strings with 32-bit and 64-bit offsets; Parquet does
    # not.
    return tuple(
        (id_, field.name, str(field.type).replace("large_", ""))
        for id_, field in zip(ids, schema, strict=True)
    )


def grouped(
    columns: Sequence[ScanColumn], files: Iterable[tuple[tuple[StoredColumn, ...], ScanFile]]
) -> tuple[ColumnGroup, ...]:
    """Group files that store the columns with the same names and types."""
    groups: dict[tuple[tuple[str, str] | None, ...], list[ScanFile]] = {}
    for held, file in files:
        if not held:
            return ()
        by_id = {id_: (name, type_) for id_, name, type_ in held}
        groups.setdefault(tuple(by_id.get(column.id) for column in columns), []).append(file)
    if len(groups) > _WAYS:
        return ()
    return tuple(
        ColumnGroup(tuple(one and one[0] for one in way), tuple(files))
        for way, files in groups.items()
    )
