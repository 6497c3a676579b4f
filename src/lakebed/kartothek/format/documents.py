"""The state of a dataset as JSON or as msgpack, compressed with zstd."""

import json
from collections.abc import Mapping
from typing import Any

import msgpack
import pyarrow as pa

from lakebed.errors import TornFile
from lakebed.kartothek.format.attributes import state_from_attributes
from lakebed.kartothek.format.names import MetadataFormat
from lakebed.kartothek.format.state import VERSION, DatasetState

_OWN = "lakebed"


def parse_state(data: bytes, *, format: MetadataFormat, path: str) -> DatasetState:
    """The state that a metadata file holds; `DamagedDataset` or `UnsupportedDataset` otherwise,
    `TornFile` if it cannot be parsed.
    """
    try:
        attributes = _from_json(data) if format is MetadataFormat.JSON else _from_msgpack(data)
    except (ValueError, OSError, msgpack.exceptions.UnpackException) as error:
        reason = str(error).strip().splitlines()[0] if str(error) else type(error).__name__
        raise TornFile(path, f"the metadata is not valid {format}: {reason}.") from error
    return state_from_attributes(attributes, own=_OWN, path=path)


def state_document(state: DatasetState, *, format: MetadataFormat) -> bytes:
    """The content of the metadata file of a state."""
    attributes = _attributes(state)
    if format is MetadataFormat.JSON:
        return json.dumps(attributes, ensure_ascii=False).encode()
    packed: bytes = msgpack.packb(attributes)
    compressed: bytes = pa.Codec("zstd").compress(packed, asbytes=True)
    return compressed


def _attributes(state: DatasetState) -> Mapping[str, Any]:
    own = {
        "schemas": dict(state.schemas),
        "index_sizes": dict(state.index_sizes),
        "commits": list(state.commits),
        **({"segments": _lists(state.segments)} if state.segments else {}),
    }
    return {
        **state.extra,
        "dataset_metadata_version": VERSION,
        "dataset_uuid": state.uuid,
        "indices": dict(state.indices),
        "metadata": dict(state.metadata),
        "partitions": {label: {"files": dict(files)} for label, files in state.partitions.items()},
        "partition_keys": list(state.partition_keys),
        **({_OWN: own} if any(own.values()) else {}),
    }


def _lists(found: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    return {name: list(paths) for name, paths in found.items()}


def _from_json(data: bytes) -> Any:
    return json.loads(data.decode())


def _from_msgpack(data: bytes) -> Any:
    # Read as a stream: the size of the content need not be in the frame.
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return msgpack.unpackb(stream.read(), raw=False)
