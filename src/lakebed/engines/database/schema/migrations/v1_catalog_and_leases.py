"""Iceberg's catalog, leases and publications."""

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.tables import (
    iceberg_namespaces,
    iceberg_tables,
    leases,
    publications,
    versions,
)

MIGRATION = Migration(
    1, creates=(iceberg_tables, iceberg_namespaces, versions, leases, publications)
)
