"""A run that goes on after an intended publication has a record for the time after it."""

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.tables import runs

MIGRATION = Migration(8, adds=(runs.c.next_document,))
