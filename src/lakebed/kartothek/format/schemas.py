"""Schemas of tables: `_common_metadata`, an empty Parquet file with normal types."""

import base64
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import BadBatch, DamagedDataset, TornFile
from lakebed.kartothek.format.column_types import StringProfile, is_text, normal_type, same_type
from lakebed.kartothek.format.pandas_metadata import with_pandas_metadata
from lakebed.kartothek.format.partition_values import require_key_type


def table_schema(
    schema: Any, partition_keys: Sequence[str], *, strings: StringProfile | None = None
) -> Any:
    """The schema of a table with these columns: partition keys first, the others by name."""
    profile = strings or StringProfile.LARGE_STRING
    _require_names(schema, partition_keys)
    others = sorted(name for name in schema.names if name not in partition_keys)
    types = {field.name: normal_type(field.type, strings=profile) for field in schema}
    for key in partition_keys:
        require_key_type(types[key], column=key)
    fields = [pa.field(name, types[name]) for name in (*partition_keys, *others)]
    return with_pandas_metadata(pa.schema(fields))


def combined_schema(known: Any, added: Any, *, where: str) -> Any:
    """The schema of a table that has rows of both; `BadBatch` names columns that do not agree.

    A column without values takes the other's type. Text keeps the known type.
    """
    differing = [
        *(f"{name!r} is missing" for name in known.names if name not in added.names),
        *(f"{name!r} is unknown" for name in added.names if name not in known.names),
        *_differing_types(known, added),
    ]
    if differing:
        raise BadBatch(
            f"the rows do not have the schema of the dataset: {', '.join(differing)}.",
            where=where,
            safe="Nothing was committed.",
            next="A dataset has one schema: change the rows, or write a new dataset.",
        )
    fields = [added.field(f.name) if pa.types.is_null(f.type) else f for f in known]
    return with_pandas_metadata(pa.schema(fields))


def schema_file(schema: Any) -> bytes:
    """The content of `_common_metadata`."""
    sink = pa.BufferOutputStream()
    pq.write_metadata(schema, sink, version="2.6", coerce_timestamps="us")
    return bytes(sink.getvalue().to_pybytes())


def parse_schema_file(data: bytes, *, path: str) -> Any:
    """The schema in `_common_metadata`, with normal types whoever wrote it."""
    try:
        found = pq.read_schema(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise TornFile(path, f"the schema cannot be read: {reason}.") from error
    return found.remove_metadata() if found.pandas_metadata is None else _without_index(found)


def schema_text(schema: Any) -> str:
    """A schema as text in the metadata file."""
    return base64.b64encode(schema.remove_metadata().serialize().to_pybytes()).decode()


def parse_schema_text(text: str, *, path: str) -> Any:
    try:
        return pa.ipc.read_schema(pa.BufferReader(base64.b64decode(text, validate=True)))
    except (ValueError, OSError, pa.ArrowException) as error:
        raise DamagedDataset(path, "the schema in the metadata cannot be read.") from error


def _without_index(schema: Any) -> Any:
    """The columns without those in which pandas stored the index of a frame."""
    index = [name for name in schema.pandas_metadata["index_columns"] if isinstance(name, str)]
    fields = [field for field in schema if field.name not in index]
    return pa.schema([pa.field(field.name, _declared(field.type)) for field in fields])


def _declared(type_: Any) -> Any:
    """Text as it is declared: it decides what plateau accepts."""
    return type_ if is_text(type_) else normal_type(type_)


def _differing_types(known: Any, added: Any) -> list[str]:
    shared = [name for name in known.names if name in added.names]
    return [
        f"{name!r} is {added.field(name).type} instead of {known.field(name).type}"
        for name in shared
        if not same_type(known.field(name).type, added.field(name).type)
    ]


def _require_names(schema: Any, partition_keys: Sequence[str]) -> None:
    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        raise BadBatch(f"the rows have two columns named {twice[0]!r}.")
    for key in partition_keys:
        if key not in schema.names:
            raise BadBatch(f"the rows have no column {key!r}, which is a partition key.")
