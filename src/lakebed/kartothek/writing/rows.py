"""The first phase of a write: rows become data files that nobody sees yet.

Many processes may do it at once; one commit then makes all their partitions visible.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lakebed.errors import BadBatch
from lakebed.kartothek.format.names import DEFAULT_TABLE, require_table
from lakebed.kartothek.format.schemas import combined_schema, table_schema
from lakebed.kartothek.writing.frames import frames
from lakebed.kartothek.writing.partition_files import (
    PartitionSpec,
    WrittenPartition,
    discard,
    require_indexable,
    write_partitions,
)
from lakebed.ports.files.files import Files


@dataclass(frozen=True)
class WrittenRows:
    """Partitions that wait for a commit, and the schemas of all the rows that were given."""

    partitions: tuple[WrittenPartition, ...] = ()
    schemas: Mapping[str, Any] = field(default_factory=dict)
    partition_keys: tuple[str, ...] = ()


class WriteRows(Protocol):
    """The first phase of a write, by this process or by others: see `write_rows`."""

    def __call__(
        self,
        files: Files,
        spec: PartitionSpec,
        rows: Any,
        *,
        table: str,
        fields: Mapping[str, Any] | None,
    ) -> WrittenRows: ...


def write_rows(
    files: Files,
    spec: PartitionSpec,
    rows: Any,
    *,
    table: str = DEFAULT_TABLE,
    fields: Mapping[str, Any] | None = None,
) -> WrittenRows:
    """Write rows as data files of a dataset; if a frame cannot be written, none stays.

    Each frame becomes a partition, or one for each combination of partition keys. A mapping gives
    a frame for each of several tables. `fields` are values of all the rows that are in none.
    """
    require_indexable(spec.indexed, spec.partition_keys)
    partitions: list[WrittenPartition] = []
    schemas: dict[str, Any] = {}
    try:
        for frame in frames(rows):
            tables = frame if isinstance(frame, Mapping) else {table: frame}
            schemas = _combined(schemas, spec, tables)
            for part in write_partitions(files, spec, tables, fields=fields):
                partitions.append(part)
    except Exception:
        discard(files, partitions)
        raise
    return WrittenRows(tuple(partitions), schemas, spec.partition_keys)


def combined_rows(parts: Iterable[WrittenRows]) -> WrittenRows:
    """What several processes wrote, for one commit; `BadBatch` if their schemas differ."""
    found = list(parts)
    schemas: dict[str, Any] = {}
    for part in found:
        schemas = _with_schemas(schemas, part.schemas, where="")
    keys = {part.partition_keys for part in found if part.partitions} or {()}
    if len(keys) > 1:
        raise BadBatch("the rows were written with different partition keys.")
    return WrittenRows(tuple(one for part in found for one in part.partitions), schemas, keys.pop())


def _combined(
    known: Mapping[str, Any], spec: PartitionSpec, tables: Mapping[str, Any]
) -> dict[str, Any]:
    found = {
        require_table(name): table_schema(rows.schema, spec.partition_keys, strings=spec.strings)
        for name, rows in tables.items()
    }
    return _with_schemas(known, found, where=spec.uuid)


def _with_schemas(
    known: Mapping[str, Any], added: Mapping[str, Any], *, where: str
) -> dict[str, Any]:
    agreed = {
        name: combined_schema(known[name], schema, where=where) if name in known else schema
        for name, schema in added.items()
    }
    return {**known, **agreed}
