"""Catalog and state in one database, SQLite or PostgreSQL, by SQLAlchemy Core."""

from lakebed.engines.database.connect import Database
from lakebed.engines.database.identity import DatabaseIdentity
from lakebed.engines.database.state.care_log import DatabaseCareLog
from lakebed.engines.database.state.events import DatabaseEvents
from lakebed.engines.database.state.leases import DatabaseLeases, fence
from lakebed.engines.database.state.records import DatabaseRecords
from lakebed.engines.database.state.releases import DatabaseReleases

__all__ = [
    "Database",
    "DatabaseCareLog",
    "DatabaseEvents",
    "DatabaseIdentity",
    "DatabaseLeases",
    "DatabaseRecords",
    "DatabaseReleases",
    "fence",
]
