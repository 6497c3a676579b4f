"""SQL statements about tables, built from checked names and executed elsewhere. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from lakebed.names import TableName, spark_identifier
from lakebed.settings import WriteSettings

# Commits of Spark and PyIceberg contend for one pointer: retry often and soon, not with Iceberg's
# few, long waits.
COMMIT_RETRIES = {
    "commit.retry.num-retries": "30",
    "commit.retry.min-wait-ms": "50",
    "commit.retry.max-wait-ms": "2000",
}
# Iceberg puts small files into one task of 16 MiB. Counted as more than half of that, each has a
# task of its own, and small tables are read by several cores.
PARALLEL_READS = {"read.split.open-file-cost": str(9 * 1024 * 1024)}


def write_properties(write: WriteSettings) -> dict[str, str]:
    """How data files are written, as Iceberg's table properties."""
    known = {
        "write.target-file-size-bytes": write.target_file_size,
        "write.parquet.compression-codec": write.compression,
        "write.parquet.row-group-size-bytes": write.row_group_size,
    }
    return {
        key: str(int(value) if isinstance(value, int) else value)
        for key, value in known.items()
        if value is not None
    }


def create_table(
    table: TableName,
    columns: str,
    *,
    location: str | None,
    properties: Mapping[str, str],
    partition_by: Sequence[str] = (),
) -> str:
    """CREATE TABLE for columns in Spark's spelling (`id BIGINT, name STRING`); without a location
    the catalog chooses.
    """
    partitioned = f"PARTITIONED BY ({', '.join(partition_by)})\n" if partition_by else ""
    placed = f"LOCATION {string_literal(location)}\n" if location else ""
    listed = ", ".join(
        f"{string_literal(key)} = {string_literal(value)}"
        for key, value in {
            "format-version": "2",
            **COMMIT_RETRIES,
            **PARALLEL_READS,
            **properties,
        }.items()
    )
    return (
        f"CREATE TABLE {table.spark} ({columns}) USING iceberg\n{partitioned}{placed}TBLPROPERTIES"
        f" ({listed})"
    )


def create_branch(table: TableName, branch: str) -> str:
    """CREATE BRANCH of a table that has no snapshot yet: it gets an empty one."""
    return f"ALTER TABLE {table.spark} CREATE BRANCH {spark_identifier(branch)}"


def on_branch(table: TableName, branch: str) -> str:
    """The name under which Spark reads and writes a branch."""
    return f"{table.spark}.{spark_identifier(f'branch_{branch}')}"


def at_snapshot(table: TableName, snapshot: int | None) -> str:
    """A relation for FROM: the table as of a snapshot; without one, no rows."""
    return (
        f"{table.spark} VERSION AS OF {snapshot}"
        if snapshot is not None
        else f"(SELECT * FROM {table.spark} LIMIT 0)"
    )


def time_literal(at: datetime) -> str:
    """A time with its offset, as a literal of Spark SQL."""
    return f"TIMESTAMP '{at.isoformat(' ')}'"


def string_literal(value: str) -> str:
    """A string literal of Spark SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
