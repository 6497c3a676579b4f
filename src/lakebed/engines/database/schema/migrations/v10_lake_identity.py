"""Which lake the database belongs to."""

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.tables import identity

MIGRATION = Migration(10, creates=(identity,))
