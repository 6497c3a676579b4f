"""What a batch was made from, stored with the commit that writes it."""

from hashlib import sha256

from lakebed.batches.sidecars import sidecar_folder, write_file_list
from lakebed.batches.state import BATCH, BatchState, batch_summary
from lakebed.names import TableName
from lakebed.pipelines.planning.pins import Chunk, SourceBatch
from lakebed.pipelines.running.active_run import ActiveRun

_FANOUT = "write.spark.fanout.enabled"


def one_file_at_a_time(table: TableName) -> str:
    """Spark's own default keeps a file open for every partition that a task meets: memory would
    grow with their number. Rows are sorted by partition instead.
    """
    return f"ALTER TABLE {table.spark} SET TBLPROPERTIES ('{_FANOUT}' = 'false')"


def record_batch(run: ActiveRun, batch: SourceBatch | Chunk) -> None:
    """Let the next commit say which batch it writes, and from which files."""
    files = run.services.ports.files
    folder = sidecar_folder(files, run.table, run.metadata(run.physical_table).location)
    listed = write_file_list(files, folder, batch.files) if batch.files else ""
    columns = "\n".join(f"{field.name} {field.type}" for field in run.progress.fields)
    state = BatchState(
        label=batch.label,
        digest=batch.digest,
        config=batch.config,
        schema=sha256(columns.encode()).hexdigest()[:32],
        files=len(batch.files),
        bytes=batch.bytes,
        file_list=listed,
    )
    run.compute.set_snapshot_property(BATCH, batch_summary(state))
