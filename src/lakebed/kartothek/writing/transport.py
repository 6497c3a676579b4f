"""Written rows as bytes: what a process that writes files sends to the one that commits."""

import base64
import json
from typing import Any

import pyarrow as pa

from lakebed.kartothek.format.pandas_metadata import with_pandas_metadata
from lakebed.kartothek.format.schemas import parse_schema_text, schema_text
from lakebed.kartothek.writing.partition_files import WrittenPartition
from lakebed.kartothek.writing.rows import WrittenRows

_FROM = "another process"


def dump_rows(rows: WrittenRows) -> bytes:
    """Labels, paths, schemas and index values; the rows themselves are in their files."""
    document = {
        "partition_keys": list(rows.partition_keys),
        "schemas": {name: schema_text(schema) for name, schema in rows.schemas.items()},
        "partitions": [
            {
                "label": part.label,
                "files": dict(part.files),
                "values": {name: _dumped(values) for name, values in part.values.items()},
            }
            for part in rows.partitions
        ],
    }
    return json.dumps(document).encode()


def load_rows(data: bytes) -> WrittenRows:
    """The reverse of `dump_rows`."""
    document = json.loads(data)
    partitions = [
        WrittenPartition(
            part["label"],
            part["files"],
            {name: _loaded(text) for name, text in part["values"].items()},
        )
        for part in document["partitions"]
    ]
    schemas = {
        name: with_pandas_metadata(parse_schema_text(text, path=_FROM))
        for name, text in document["schemas"].items()
    }
    return WrittenRows(tuple(partitions), schemas, tuple(document["partition_keys"]))


def _dumped(values: Any) -> str:
    sink = pa.BufferOutputStream()
    batch = pa.record_batch({"values": values})
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return base64.b64encode(sink.getvalue().to_pybytes()).decode()


def _loaded(text: str) -> Any:
    with pa.ipc.open_stream(base64.b64decode(text)) as stream:
        return stream.read_all().column("values").combine_chunks()
