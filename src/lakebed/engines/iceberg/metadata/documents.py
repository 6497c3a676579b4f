"""Changing metadata files through PyIceberg's model, without losing what the model does not know.

PyIceberg 0.12 reads format version 3 but does not write it, does not know `variant`, and drops keys
that it has no field for. So only what changed in the model is taken from it; everything else stays
as it is in the file.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.table import StaticTable
from pyiceberg.table.locations import load_location_provider
from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
from pyiceberg.table.metadata import TableMetadataUtil
from pyiceberg.typedef import IcebergBaseModel

from lakebed.engines.iceberg.metadata.parsing import Json, refuse_newer
from lakebed.engines.iceberg.metadata.reading import document_of

_UNKNOWN_TYPE, _STAND_IN = "variant", "binary"
_BY_ID = {  # the key that identifies the items of a list
    "snapshots": "snapshot-id",
    "schemas": "schema-id",
    "fields": "id",
    "statistics": "snapshot-id",
    "partition-statistics": "snapshot-id",
}


def read_document(io: FileIO, location: str) -> tuple[Json, IcebergMetadata]:
    """A metadata file as JSON and as PyIceberg's model; `NewerFormat` for an unknown format
    version.
    """
    with io.new_input(location).open() as file:
        document = document_of(file.read())
    refuse_newer(document, location)
    return document, as_modelled(document)


def static_table(location: str, properties: Mapping[str, str]) -> StaticTable:
    """A metadata file as a PyIceberg table, for reading."""
    io = load_file_io(dict(properties), location)
    _, metadata = read_document(io, location)
    return StaticTable(
        identifier=("static-table", location),
        metadata=metadata,
        metadata_location=location,
        io=io,
        catalog=NoopCatalog("static-table"),
    )


def write_document(io: FileIO, document: Json, *, number: int) -> str:
    """Write a metadata file into the table's folder; returns its location."""
    provider = load_location_provider(document["location"], document.get("properties") or {})
    place = provider.new_table_metadata_file_location(number)
    with io.new_output(place).create() as file:
        file.write(json.dumps(document).encode())
    return place


def as_modelled(document: Json) -> IcebergMetadata:
    """PyIceberg's model of a document; columns of types that it does not know are `binary`."""
    schemas = {
        key: _with_stand_ins(document[key]) for key in ("schemas", "schema") if key in document
    }
    return TableMetadataUtil.parse_raw(json.dumps({**document, **schemas}))


def _with_stand_ins(value: Any) -> Any:
    """Schemas with unknown types replaced; a type is under `type`, `element`, `key` or `value`."""
    if isinstance(value, list):
        return [_with_stand_ins(item) for item in value]
    if not isinstance(value, dict):
        return value
    types = ("type", "element", "key", "value")
    return {
        key: _STAND_IN if key in types and inner == _UNKNOWN_TYPE else _with_stand_ins(inner)
        for key, inner in value.items()
    }


def changed_document(document: Json, present: IcebergMetadata, changed: IcebergMetadata) -> Json:
    """The document with the differences between `present`, PyIceberg's model of it, and
    `changed`.
    """
    before = _dumped(present)
    result: Json = _merged(document, before, _dumped(changed))
    return {
        **result,
        "schemas": [_of_known_columns(schema, document, before) for schema in result["schemas"]],
    }


def _dumped(metadata: IcebergMetadata) -> Any:
    """The model as JSON, also for version 3, which PyIceberg refuses to write."""
    return json.loads(IcebergBaseModel.model_dump_json(metadata))


def _merged(document: Any, before: Any, after: Any) -> Any:
    """`after`, with the document's own values where nothing changed since `before`."""
    if after == before:
        return document
    if not all(isinstance(one, Mapping) for one in (document, before, after)):
        return after
    unknown = {key: value for key, value in document.items() if key not in before}
    known = {
        key: _of_key(key, document, before, value) if key in document else value
        for key, value in after.items()
    }
    return {**unknown, **known}


def _of_key(key: str, document: Json, before: Json, after: Any) -> Any:
    was = before.get(key)
    if key not in _BY_ID or after == was:
        return _merged(document[key], was, after)
    id_ = _BY_ID[key]
    there, known = _items(document[key], id_), _items(was or (), id_)
    return [
        _merged(there[one[id_]], known[one[id_]], one)
        if one[id_] in there and one[id_] in known
        else one
        for one in after
    ]


def _items(items: Sequence[Json], id_: str) -> dict[Any, Json]:
    return {item[id_]: item for item in items}


def _of_known_columns(schema: Json, document: Json, before: Json) -> Json:
    """A new schema with the document's own definition of each known column, unknown types and keys
    included.
    """
    known, seen = (_items(one.get("schemas") or (), "schema-id") for one in (document, before))
    current = document.get("current-schema-id")
    if schema["schema-id"] in known or current not in known:
        return schema
    return {**schema, "fields": _of_key("fields", known[current], seen[current], schema["fields"])}
