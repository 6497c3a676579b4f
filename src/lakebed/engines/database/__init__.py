"""Catalog and state in one database, SQLite or PostgreSQL, by SQLAlchemy Core."""

from lakebed.engines.database.connect import Database
from lakebed.engines.database.leases import DatabaseLeases, fence
from lakebed.engines.database.records import DatabaseRecords

__all__ = ["Database", "DatabaseLeases", "DatabaseRecords", "fence"]
