"""The ledger knows when files were published whose publication was purged."""

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.tables import ledger

MIGRATION = Migration(7, adds=(ledger.c.published,))
