"""Iceberg tables: metadata read as plain JSON, commits staged by PyIceberg, pointers swapped in the
database.
"""

from lakebed.engines.iceberg.catalog.database_catalog import DatabaseCatalog
from lakebed.engines.iceberg.catalog.properties import (
    catalog_properties,
    file_properties,
    open_pyiceberg,
)
from lakebed.engines.iceberg.catalog.rest_catalog import IcebergRestCatalog
from lakebed.engines.iceberg.metadata.reading import MetadataReader
from lakebed.engines.iceberg.scan.manifest_cache import ManifestCache
from lakebed.engines.iceberg.scan.scan import IcebergScans
from lakebed.engines.iceberg.upkeep.reaching import IcebergReach

__all__ = [
    "DatabaseCatalog",
    "IcebergReach",
    "IcebergRestCatalog",
    "IcebergScans",
    "ManifestCache",
    "MetadataReader",
    "catalog_properties",
    "file_properties",
    "open_pyiceberg",
]
