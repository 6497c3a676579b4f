"""The batches of a table, as Arrow."""

from typing import TYPE_CHECKING

from lakebed.batches.sidecars import known_batches
from lakebed.ports import Files, TableMetadata

if TYPE_CHECKING:
    import pyarrow as pa


def batch_rows(files: Files, metadata: TableMetadata, snapshot: int | None) -> "pa.Table":
    """What each batch was made from, at a snapshot."""
    import pyarrow as pa

    states = known_batches(files, metadata, at=snapshot).batches.values() if snapshot else ()
    columns = {
        "batch": ([one.label for one in states], pa.string()),
        "digest": ([one.digest for one in states], pa.string()),
        "schema_hash": ([one.schema for one in states], pa.string()),
        "config_hash": ([one.config for one in states], pa.string()),
        "files": ([one.files for one in states], pa.int64()),
        "bytes": ([one.bytes for one in states], pa.int64()),
        "rows": ([one.rows for one in states], pa.int64()),
        "committed_at": ([one.at for one in states], pa.timestamp("us", tz="UTC")),
        "snapshot_id": ([one.snapshot for one in states], pa.int64()),
    }
    return pa.table({name: pa.array(of, type_) for name, (of, type_) in columns.items()})
