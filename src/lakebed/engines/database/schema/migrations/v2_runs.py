"""Records of runs, the landing files they consumed, and the snapshots they read."""

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.tables import consumed, pins, runs

MIGRATION = Migration(2, creates=(runs, consumed, pins))
