"""Data files of new partitions; nobody sees them before a commit."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import BadBatch, LakebedError, UnknownName
from lakebed.kartothek.format.column_types import StringProfile
from lakebed.kartothek.format.labels import partition_label
from lakebed.kartothek.format.names import data_path
from lakebed.kartothek.format.pandas_metadata import with_pandas_metadata
from lakebed.kartothek.indexes.postings import distinct_values, index_type
from lakebed.kartothek.writing.splitting import KeyTexts, split
from lakebed.ports.files.files import Files

OURS = b"lakebed"  # in the metadata of a data file: by it, files of an undone commit are found
_ROWS = 1_000_000  # in a row group


@dataclass(frozen=True)
class WrittenPartition:
    """A partition whose files are written and not yet committed.

    `values` are the distinct values of its indexed columns, `replaced` is the label of the
    partition that it was written from.
    """

    label: str
    files: Mapping[str, str]
    values: Mapping[str, Any] = field(default_factory=dict)
    replaced: str | None = None


@dataclass(frozen=True)
class PartitionSpec:
    """How rows become partitions: by which keys, with which indexed columns, sorted how."""

    uuid: str
    partition_keys: tuple[str, ...] = ()
    indexed: tuple[str, ...] = ()
    sort_by: tuple[str, ...] = ()
    strings: StringProfile = StringProfile.LARGE_STRING
    row_group_rows: int = _ROWS


def write_partitions(
    files: Files,
    spec: PartitionSpec,
    tables: Mapping[str, Any],
    *,
    fields: Mapping[str, Any] | None = None,
) -> Iterator[WrittenPartition]:
    """Write the rows of a frame for each table, as one partition for each combination of keys.

    `fields` are values that hold for all the rows and are in none of them; they can be indexed.
    """
    _require_columns(spec.sort_by, tables)
    parts = {name: _split(spec, table) for name, table in tables.items()}
    id = uuid4().hex  # of all partitions of the frame: their keys tell them apart
    for keys in dict.fromkeys(keys for found in parts.values() for keys in found):
        label = partition_label(keys, id)
        chosen = {name: parts[name].get(keys, table.slice(0, 0)) for name, table in tables.items()}
        paths = {name: data_path(spec.uuid, name, label) for name in tables}
        values = {
            column: _values(column, chosen, fields or {}, spec.strings) for column in spec.indexed
        }
        for name, rows in chosen.items():
            data = parquet_file(rows.drop_columns(list(spec.partition_keys)), spec.row_group_rows)
            files.create(paths[name], data)
        yield WrittenPartition(label, paths, values)


def parquet_file(rows: Any, row_group_rows: int = _ROWS) -> bytes:
    """The content of a data file: types as they are, times in microseconds, with statistics."""
    sink = pa.BufferOutputStream()
    nullable = [name for name in rows.column_names if rows.column(name).null_count]
    schema = with_pandas_metadata(rows.schema, nullable=nullable)
    described = rows.cast(schema.with_metadata({**schema.metadata, OURS: b"1"}))
    try:
        pq.write_table(
            described, sink, row_group_size=max(row_group_rows, 1), coerce_timestamps="us"
        )
    except (pa.ArrowException, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise BadBatch(
            f"the rows cannot be stored as Parquet: {reason}.",
            safe="Nothing was committed.",
            next="Datasets store times in microseconds: round or cast the column.",
        ) from error
    return bytes(sink.getvalue().to_pybytes())


def _split(spec: PartitionSpec, table: Any) -> Mapping[KeyTexts, Any]:
    by = [(name, "ascending") for name in spec.sort_by if name in table.column_names]
    return dict(split(table.sort_by(by) if by else table, spec.partition_keys))


def _values(
    column: str, tables: Mapping[str, Any], fields: Mapping[str, Any], strings: StringProfile
) -> Any:
    """The distinct values of an indexed column: in the rows, or one for all of them."""
    holders = [rows.column(column) for rows in tables.values() if column in rows.column_names]
    if column in fields:
        holders = [pa.chunked_array([pa.array([fields[column]])])]
    if not holders:
        _require_columns([column], tables)
    if pa.types.is_null(holders[0].type):
        return pa.array([], pa.null())
    type_ = index_type(holders[0].type, column, strings=strings)
    return distinct_values(holders[0], type_)


def _require_columns(columns: Sequence[str], tables: Mapping[str, Any]) -> None:
    known = [name for rows in tables.values() for name in rows.column_names]
    for column in columns:
        if column not in known:
            raise UnknownName("column", column, known)


def require_indexable(indexed: Collection[str], partition_keys: Sequence[str]) -> None:
    """Refuse an index on a partition key: its values are in the labels."""
    for column in indexed:
        if column in partition_keys:
            raise BadBatch(
                f"the column {column!r} is a partition key and needs no index.",
                next="Leave it out of the indices.",
            )


def discard(files: Files, partitions: Sequence[WrittenPartition]) -> None:
    """Remove the files of partitions that will not be committed."""
    for path in (path for part in partitions for path in part.files.values()):
        with suppress(LakebedError):  # garbage collection removes what stays
            files.delete(path)
