"""Zones that were in use before replaced files were refused: there they go on being appended."""

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.tables import appending_zones

ZONES_IN_USE = "INSERT INTO lakebed_appending_zones (zone) SELECT DISTINCT zone FROM lakebed_ledger"

MIGRATION = Migration(11, creates=(appending_zones,), then=(ZONES_IN_USE,))
