"""What expiring snapshots tell about batches is kept, in a checkpoint that the same commit
names.
"""

from collections.abc import Collection
from dataclasses import replace

from lakebed.batches.sidecars import known_batches, sidecar_folder, write_checkpoint
from lakebed.batches.state import (
    CHECKPOINT,
    checkpoint_of,
    checkpoint_property,
    has_batches,
    oldest_kept,
)
from lakebed.derived.gaps import table_gaps
from lakebed.derived.identity import COVERS, KIND
from lakebed.ports import Files, LakePorts, Pointer, SetProperties, TableMetadata


def checkpoint_amendments(
    pointer: Pointer,
    metadata: TableMetadata,
    removed: Collection[int],
    ports: LakePorts,
) -> tuple[SetProperties, ...]:
    """Write the state of batches at the oldest snapshot that stays, and name it in the table's
    properties; nothing for a table without batches. Who has removed rows of batches is kept, too:
    the snapshots that tell it go.

    Of batches that only a lost checkpoint knew nothing is kept: they run again.
    """
    oldest = oldest_kept(metadata, removed) if has_batches(metadata) else None
    if oldest is None:
        return ()
    files = ports.files
    folder = sidecar_folder(files, pointer.table, metadata.location)
    if KIND in metadata.properties:
        return _of_derived(metadata, removed, files, folder, oldest)
    states = known_batches(files, metadata, at=oldest)
    gaps = table_gaps(ports, pointer, metadata, states, at=oldest)
    removed_by = {gap.label: gap.removed_by for gap in gaps}
    kept = [
        replace(state, removed_by=removed_by.get(state.label, ""))
        for state in states.batches.values()
    ]
    checkpoint = write_checkpoint(files, folder, kept, at=oldest)
    return (SetProperties({CHECKPOINT: checkpoint_property(checkpoint)}),)


def _of_derived(
    metadata: TableMetadata, removed: Collection[int], files: Files, folder: str, oldest: int
) -> tuple[SetProperties, ...]:
    """A derived table's checkpoint stays as long as its snapshot does: it says more than the
    snapshots themselves. Of one into which others have written nothing is certain, and must not be
    once their snapshots are gone.
    """
    former, head = checkpoint_of(metadata), metadata.head()
    kept = former is not None and former.at not in set(removed)
    if kept and head and former and metadata.descends(head.id, former.at):
        return ()
    states = known_batches(files, metadata, at=oldest)
    known = () if states.foreign or states.incomplete else states.batches.values()
    checkpoint = write_checkpoint(files, folder, known, at=oldest)
    properties: dict[str, str | None] = {CHECKPOINT: checkpoint_property(checkpoint)}
    return (SetProperties(properties if known else properties | {COVERS: None}),)
