"""The batches of a table, as Arrow."""

from typing import TYPE_CHECKING

from lakebed.batches.gaps import Gap
from lakebed.batches.sidecars import known_batches
from lakebed.batches.state import BatchStates
from lakebed.derived.gaps import table_gaps
from lakebed.ports import LakePorts, Pointer, TableMetadata

if TYPE_CHECKING:
    import pyarrow as pa


def batch_rows(
    ports: LakePorts, pointer: Pointer, metadata: TableMetadata, snapshot: int | None
) -> "pa.Table":
    """What each batch was made from, at a snapshot, and whether its rows are still there."""
    import pyarrow as pa

    known = known_batches(ports.files, metadata, at=snapshot) if snapshot else BatchStates({})
    lost = table_gaps(ports, pointer, metadata, known, at=snapshot)
    gaps = {gap.label: gap for gap in lost}
    states = known.batches.values()
    columns = {
        "batch": ([one.label for one in states], pa.string()),
        "digest": ([one.digest for one in states], pa.string()),
        "schema_hash": ([one.schema for one in states], pa.string()),
        "config_hash": ([one.config for one in states], pa.string()),
        "files": ([one.files for one in states], pa.int64()),
        "bytes": ([one.bytes for one in states], pa.int64()),
        "rows": ([0 if one.label in gaps else one.rows for one in states], pa.int64()),
        "committed_at": ([one.at for one in states], pa.timestamp("us", tz="UTC")),
        "snapshot_id": ([one.snapshot for one in states], pa.int64()),
        "state": ([_state(gaps.get(one.label)) for one in states], pa.string()),
    }
    return pa.table({name: pa.array(of, type_) for name, (of, type_) in columns.items()})


def _state(gap: Gap | None) -> str:
    if gap is None:
        return "present"
    return "deleted" if gap.is_meant else "missing"
