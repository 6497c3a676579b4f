"""The column types of zones."""

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.tables import zone_types

MIGRATION = Migration(5, creates=(zone_types,))
