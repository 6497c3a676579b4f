"""The ledger knows the content of files, and where they were archived."""

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.tables import ledger

MIGRATION = Migration(
    4,
    adds=(ledger.c.digest, ledger.c.archived, ledger.c.archived_etag),
    then=("CREATE INDEX lakebed_ledger_path ON lakebed_ledger (path)",),
)
