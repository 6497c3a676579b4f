"""The ledger (which replaces the list of consumed files), events, dropped tables, releases and
care.
"""

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.tables import (
    care,
    checksums,
    deleted_pipelines,
    drafts,
    dropped,
    events,
    followers,
    holds,
    ledger,
    releases,
)

MIGRATION = Migration(
    3,
    creates=(
        holds,
        ledger,
        events,
        followers,
        dropped,
        releases,
        drafts,
        deleted_pipelines,
        care,
        checksums,
    ),
    then=(
        (
            "INSERT INTO lakebed_ledger (table_name, path, etag, run_id, zone, size, publication,"
            " state) SELECT table_name, path, etag, run_id, zone, size, publication, 'taken' FROM"
            " lakebed_consumed"
        ),
        "DROP TABLE lakebed_consumed",
    ),
)
