"""Iceberg tables: metadata read as plain JSON, commits staged by PyIceberg, pointers swapped in the
database.
"""

from lakebed.engines.iceberg.catalog.database_catalog import DatabaseCatalog
from lakebed.engines.iceberg.catalog.properties import (
    catalog_properties,
    file_properties,
    open_pyiceberg,
)
from lakebed.engines.iceberg.metadata.reading import MetadataReader

__all__ = [
    "DatabaseCatalog",
    "MetadataReader",
    "catalog_properties",
    "file_properties",
    "open_pyiceberg",
]
