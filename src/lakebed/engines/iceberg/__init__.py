"""Iceberg tables: metadata read as plain JSON, commits staged by PyIceberg, pointers swapped in the database."""

from lakebed.engines.iceberg.catalog import DatabaseCatalog
from lakebed.engines.iceberg.properties import catalog_properties, file_properties, open_pyiceberg
from lakebed.engines.iceberg.reach import LazyReach
from lakebed.engines.iceberg.reading import MetadataReader
from lakebed.engines.iceberg.remembered import Remembered
from lakebed.engines.iceberg.rest import RestTables
from lakebed.engines.iceberg.scanning import IcebergScans

__all__ = [
    "DatabaseCatalog",
    "IcebergScans",
    "LazyReach",
    "MetadataReader",
    "Remembered",
    "RestTables",
    "catalog_properties",
    "file_properties",
    "open_pyiceberg",
]
