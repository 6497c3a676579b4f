"""Catalog and state in one database, SQLite or PostgreSQL, by SQLAlchemy Core."""

from lakebed.engines.database.connect import Database
from lakebed.engines.database.leases import DatabaseLeases, fence
from lakebed.engines.database.schema import CATALOG_NAME

__all__ = ["CATALOG_NAME", "Database", "DatabaseLeases", "fence"]
