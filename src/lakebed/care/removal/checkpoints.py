"""What expiring snapshots tell about batches is kept, in a checkpoint that the same commit
names.
"""

from collections.abc import Collection

from lakebed.batches.sidecars import known_batches, sidecar_folder, write_checkpoint
from lakebed.batches.state import CHECKPOINT, checkpoint_property, has_batches, oldest_kept
from lakebed.names import TableName
from lakebed.ports import Files, SetProperties, TableMetadata


def checkpoint_amendments(
    table: TableName, metadata: TableMetadata, removed: Collection[int], files: Files
) -> tuple[SetProperties, ...]:
    """Write the state of batches at the oldest snapshot that stays, and name it in the table's
    properties; nothing for a table without batches.

    Of batches that only a lost checkpoint knew nothing is kept: they run again.
    """
    oldest = oldest_kept(metadata, removed) if has_batches(metadata) else None
    if oldest is None:
        return ()
    folder = sidecar_folder(files, table, metadata.location)
    states = known_batches(files, metadata, at=oldest)
    checkpoint = write_checkpoint(files, folder, states.batches.values(), at=oldest)
    return (SetProperties({CHECKPOINT: checkpoint_property(checkpoint)}),)
