"""Which landing files a snapshot contains can be told when others have expired."""

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.tables import descents, ledger

MIGRATION = Migration(9, creates=(descents,), adds=(ledger.c.snapshot,))
