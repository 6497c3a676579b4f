"""Metadata files changed through PyIceberg's model of them, without losing what that does not know.

PyIceberg 0.12 reads format version 3 and does not write it, knows no `variant`, and leaves out keys that it has no field for. So
only what a change of the model has changed is taken from it; everything else stays as it is in the file.
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
_BY_ID = {  # lists whose items are the same item where this is the same
    "snapshots": "snapshot-id",
    "schemas": "schema-id",
    "fields": "id",
    "statistics": "snapshot-id",
    "partition-statistics": "snapshot-id",
}


def read_document(io: FileIO, location: str) -> tuple[Json, IcebergMetadata]:
    """A metadata file as it is, and as PyIceberg sees it. `NewerFormat` for one that nobody here knows how to change."""
    with io.new_input(location).open() as file:
        document = document_of(file.read())
    refuse_newer(document, location)
    return document, as_modelled(document)


def static_table(location: str, properties: Mapping[str, str]) -> StaticTable:
    """The table of a metadata file, to be read through PyIceberg."""
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
    """Write a metadata file into the table's own folder; returns where it lies."""
    provider = load_location_provider(document["location"], document.get("properties") or {})
    place = provider.new_table_metadata_file_location(number)
    with io.new_output(place).create() as file:
        file.write(json.dumps(document).encode())
    return place


def as_modelled(document: Json) -> IcebergMetadata:
    """PyIceberg's view of a document: columns of a type that it does not know are there, as `binary`."""
    schemas = {key: _with_stand_ins(document[key]) for key in ("schemas", "schema") if key in document}
    return TableMetadataUtil.parse_raw(json.dumps({**document, **schemas}))


def _with_stand_ins(value: Any) -> Any:
    """A schema, or some, with types that PyIceberg knows. A type stands under `type`, `element`, `key` or `value`."""
    if isinstance(value, list):
        return [_with_stand_ins(item) for item in value]
    if not isinstance(value, dict):
        return value
    types = ("type", "element", "key", "value")
    return {key: _STAND_IN if key in types and inner == _UNKNOWN_TYPE else _with_stand_ins(inner) for key, inner in value.items()}


def changed_document(document: Json, present: IcebergMetadata, changed: IcebergMetadata) -> Json:
    """The document after what became of `present`, which is PyIceberg's view of it."""
    before = _dumped(present)
    result: Json = _merged(document, before, _dumped(changed))
    return {**result, "schemas": [_of_known_columns(schema, document, before) for schema in result["schemas"]]}


def _dumped(metadata: IcebergMetadata) -> Any:
    """As JSON: of version 3 too, of which PyIceberg refuses to write as much as it knows."""
    return json.loads(IcebergBaseModel.model_dump_json(metadata))


def _merged(document: Any, before: Any, after: Any) -> Any:
    """`after`, in the document's words where it is as it was `before`."""
    if after == before:
        return document
    if not all(isinstance(one, Mapping) for one in (document, before, after)):
        return after
    unknown = {key: value for key, value in document.items() if key not in before}
    known = {key: _of_key(key, document, before, value) if key in document else value for key, value in after.items()}
    return {**unknown, **known}


def _of_key(key: str, document: Json, before: Json, after: Any) -> Any:
    was = before.get(key)
    if key not in _BY_ID or after == was:
        return _merged(document[key], was, after)
    id_ = _BY_ID[key]
    there, known = _items(document[key], id_), _items(was or (), id_)
    return [_merged(there[one[id_]], known[one[id_]], one) if one[id_] in there and one[id_] in known else one for one in after]


def _items(items: Sequence[Json], id_: str) -> dict[Any, Json]:
    return {item[id_]: item for item in items}


def _of_known_columns(schema: Json, document: Json, before: Json) -> Json:
    """A schema that is new has columns of the present one, which keep their types and whatever else is said of them."""
    known, seen = (_items(one.get("schemas") or (), "schema-id") for one in (document, before))
    current = document.get("current-schema-id")
    if schema["schema-id"] in known or current not in known:
        return schema
    return {**schema, "fields": _of_key("fields", known[current], seen[current], schema["fields"])}
