"""The tables of a lake's database. Names and types are stored: a change is a migration."""

from sqlalchemy import BigInteger, Column, Float, Integer, MetaData, String, Table, Text

_METADATA = MetaData()

# Iceberg's JDBC catalog, schema V1: names and widths are Iceberg's, shared with Spark and
# PyIceberg.
iceberg_tables = Table(
    "iceberg_tables",
    _METADATA,
    Column("catalog_name", String(255), primary_key=True),
    Column("table_namespace", String(255), primary_key=True),
    Column("table_name", String(255), primary_key=True),
    Column("metadata_location", String(1000)),
    Column("previous_metadata_location", String(1000)),
    Column("iceberg_type", String(5)),
)
iceberg_namespaces = Table(
    "iceberg_namespace_properties",
    _METADATA,
    Column("catalog_name", String(255), primary_key=True),
    Column("namespace", String(255), primary_key=True),
    Column("property_key", String(255), primary_key=True),
    Column("property_value", String(1000)),
)
versions = Table(
    "lakebed_schema", _METADATA, Column("version", Integer, primary_key=True, autoincrement=False)
)
leases = Table(
    "lakebed_leases",
    _METADATA,
    Column("name", String(600), primary_key=True),
    Column("holder", String(600)),  # NULL: free. The row stays: its token only ever grows
    Column("token", BigInteger, nullable=False),
    Column("limit_seconds", Float(53), nullable=False),
    Column(
        "heartbeat", Float(53), nullable=False
    ),  # seconds since 1970 by the database's own clock
)
publications = Table(
    "lakebed_publications",
    _METADATA,
    Column("run_id", String(255), primary_key=True),
    Column("state", String(16), nullable=False),  # intended, published, renaming or amending
    Column("moves", Text, nullable=False),
    Column(
        "leases", Text, nullable=False
    ),  # held when it began: while all still are, its run is alive
    Column("at", Float(53), nullable=False),
)
runs = Table(
    "lakebed_runs",
    _METADATA,
    Column("run_id", String(255), primary_key=True),
    Column("invocation", String(255), nullable=False),
    Column("table_name", String(600), nullable=False),
    Column("state", String(16), nullable=False),
    Column("started", Float(53), nullable=False),
    Column("publication", String(255)),  # the publication that makes it a success
    Column("document", Text, nullable=False),
    # the document once the publication has happened, of a run that goes on after it
    Column("next_document", Text),
)
consumed = Table(  # of version 2 only; `lakebed_ledger` replaced it
    "lakebed_consumed",
    _METADATA,
    Column("table_name", String(600), primary_key=True),
    Column("path", String(1024), primary_key=True),
    Column("etag", String(255), primary_key=True),
    Column("zone", String(600), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("run_id", String(255), nullable=False),
    Column("publication", String(255), nullable=False),
)
pins = Table(
    "lakebed_pins",
    _METADATA,
    Column("run_id", String(255), primary_key=True),
    Column("table_name", String(600), primary_key=True),
    Column("snapshot", BigInteger, primary_key=True, autoincrement=False),
)
holds = Table(  # snapshots that readers and followers protect from expiry
    "lakebed_holds",
    _METADATA,
    Column("holder", String(255), primary_key=True),
    Column("table_name", String(600), primary_key=True),
    Column("snapshot", BigInteger, primary_key=True, autoincrement=False),
    Column("until", Float(53)),  # NULL: until it is removed
)
# a file is listed once for every run that consumed it: a rollback may restore an earlier one
ledger = Table(
    "lakebed_ledger",
    _METADATA,
    Column("table_name", String(600), primary_key=True),
    Column("path", String(1024), primary_key=True),
    Column("etag", String(255), primary_key=True),
    Column("run_id", String(255), primary_key=True),
    Column("zone", String(600), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("publication", String(255), nullable=False),
    Column("state", String(16), nullable=False),  # taken, held or waiting
    Column(
        "digest", String(64)
    ),  # SHA-256; NULL if the etag identifies the content, and in rows from before version 4
    Column("archived", String(1024)),  # NULL: not archived, or before version 4
    Column("archived_etag", String(255)),
    # when it was, of a publication whose row was purged; NULL: its row says whether it was
    Column("published", Float(53)),
    Column("snapshot", BigInteger),  # the table's, with its rows; NULL: its run tells
)
# of snapshots that have expired, or whose parents have; only of tables with rows in the ledger
descents = Table(
    "lakebed_descents",
    _METADATA,
    Column("uuid", String(64), primary_key=True),  # the table's
    Column("snapshot", BigInteger, primary_key=True, autoincrement=False),
    Column("parent", BigInteger),
    Column("run_id", String(255), nullable=False),  # empty: no run wrote it
)
events = Table(
    "lakebed_events",
    _METADATA,
    Column(  # from the counter, not from a sequence: numbers are in the order of commits
        "number",
        BigInteger().with_variant(Integer, "sqlite"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("at", Float(53), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("table_name", String(600), nullable=False),
    Column("snapshot", BigInteger),
    Column("detail", Text, nullable=False),
)
followers = Table(
    "lakebed_followers",
    _METADATA,
    Column("name", String(255), primary_key=True),
    Column("number", BigInteger, nullable=False),  # of the last event it has handled
    Column("at", Float(53)),  # of its last look; NULL: before version 6
)
counters = Table(  # numbers that are never issued twice, in the order of commits
    "lakebed_counters",
    _METADATA,
    Column("name", String(255), primary_key=True),
    Column("value", BigInteger, nullable=False),
)
dropped = Table(
    "lakebed_dropped",
    _METADATA,
    Column("uuid", String(64), primary_key=True),
    Column("table_name", String(600), nullable=False),
    Column("metadata_location", String(1000), nullable=False),
    Column("at", Float(53), nullable=False),
)
releases = Table(
    "lakebed_releases",
    _METADATA,
    Column("table_name", String(600), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("digest", String(64), nullable=False),
    Column("at", Float(53), nullable=False),
    Column("who", String(255), nullable=False),
    Column("message", Text, nullable=False),
    Column("files", Text, nullable=False),  # path → SHA-256 of the content
)
drafts = Table(
    "lakebed_drafts",
    _METADATA,
    Column("table_name", String(600), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("at", Float(53), nullable=False),
    Column("files", Text, nullable=False),
)
deleted_pipelines = Table(
    "lakebed_deleted_pipelines",
    _METADATA,
    Column("table_name", String(600), primary_key=True),
    Column("at", Float(53), nullable=False),
)
care = Table(
    "lakebed_care",
    _METADATA,
    Column(
        "number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    ),
    Column("at", Float(53), nullable=False),
    Column("action", String(64), nullable=False),
    Column("subject", String(600), nullable=False),  # a table, a zone, or the lake
    Column("document", Text, nullable=False),  # counts, bytes, seconds
)

checksums = Table(  # of files that fsck has read in full; files of tables never change
    "lakebed_checksums",
    _METADATA,
    Column("path", String(1024), primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("at", Float(53), nullable=False),
)
appending_zones = Table(  # that were in use before version 11, when replaced files were appended
    "lakebed_appending_zones",
    _METADATA,
    Column("zone", String(600), primary_key=True),
)
zone_types = Table(
    "lakebed_zone_types",
    _METADATA,
    Column("zone", String(600), primary_key=True),
    Column("pattern", Text, primary_key=True),  # of the files; empty: all of them
    Column("folded", Text, primary_key=True),  # the column's name without its case
    Column("column_name", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("run_id", String(255), nullable=False),  # that learned the type
    Column("place", Integer, nullable=False),  # the column's position in the files
)

identity = Table(  # one row: the lake that this database belongs to
    "lakebed_identity",
    _METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("id", String(64), nullable=False),
    Column("address", Text, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("fingerprint", String(255), nullable=False),
)


def tables() -> tuple[Table, ...]:
    """All tables of a database of the newest version."""
    return tuple(table for table in _METADATA.sorted_tables if table is not consumed)
