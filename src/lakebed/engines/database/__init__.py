"""Catalog and state in one database, SQLite or PostgreSQL, by SQLAlchemy Core."""

from lakebed.engines.database.care import DatabaseCareLog
from lakebed.engines.database.connect import Database
from lakebed.engines.database.events import DatabaseEvents
from lakebed.engines.database.leases import DatabaseLeases, fence
from lakebed.engines.database.records import DatabaseRecords
from lakebed.engines.database.releases import DatabaseReleases

__all__ = ["Database", "DatabaseCareLog", "DatabaseEvents", "DatabaseLeases", "DatabaseRecords", "DatabaseReleases", "fence"]
