"""Views as Spark's CREATE VIEW leaves them in the catalog, made without Spark."""

import json

from sqlalchemy import insert

from lakebed.app import Lake
from lakebed.engines.database.schema import iceberg_tables
from lakebed.names import TableName


def add_view(lake: Lake, view: TableName, sql: str, columns: dict[str, str]) -> None:
    """A view of these columns, named with their Iceberg types."""
    place = lake.root.folder / view.namespace / "views" / f"{view.name}.metadata.json"
    place.parent.mkdir(parents=True)
    fields = [
        {"id": id_, "name": name, "required": False, "type": type_}
        for id_, (name, type_) in enumerate(columns.items())
    ]
    version = {
        "version-id": 1,
        "schema-id": 0,
        "timestamp-ms": 1,
        "default-namespace": [],
        "default-catalog": "lake",
        "representations": [{"type": "sql", "sql": sql, "dialect": "spark"}],
    }
    document = {
        "view-uuid": "u",
        "format-version": 1,
        "location": str(place.parent),
        "current-version-id": 1,
        "versions": [version],
        "schemas": [{"schema-id": 0, "type": "struct", "fields": fields}],
    }
    place.write_text(json.dumps(document))
    row = {
        "catalog_name": "lake",
        "table_namespace": f"{view.namespace}.{view.layer}",
        "table_name": view.name,
        "iceberg_type": "VIEW",
    }
    with lake.stores.database.writing() as connection:
        connection.execute(insert(iceberg_tables).values(**row, metadata_location=place.as_uri()))
