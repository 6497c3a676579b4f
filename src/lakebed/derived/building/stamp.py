"""Writing down which batches a layout has, and which snapshot of its table they are those of:
metadata only.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from lakebed.batches.sidecars import sidecar_folder, write_checkpoint
from lakebed.batches.state import CHECKPOINT, BatchState, checkpoint_property
from lakebed.derived.building.look import SourceState, freshness_of, read_layout_table
from lakebed.derived.building.services import LayoutServices
from lakebed.derived.freshness import columns_digest, source_digest
from lakebed.derived.identity import COVERS, Layout
from lakebed.names import TableName
from lakebed.ports import SetProperties
from lakebed.tables import HeldLease
from lakebed.work import retry

PATIENCE = 5.0  # seconds to wait for care of the layout


def stamp(
    services: LayoutServices, source: SourceState, hidden: TableName, labels: Collection[str]
) -> bool:
    """Say of all fresh batches that they are those of the table's snapshot; whether the layout has
    exactly its rows. `labels` are the batches of the table.
    """

    def attempt() -> bool:
        layout = read_layout_table(services, hidden)
        states, freshness = freshness_of(services, source, layout)
        complete = not freshness.stale and frozenset(labels) == freshness.fresh
        if freshness.tainted:
            return False
        digest = source_digest(source.metadata.uuid, source.snapshot)
        schema = columns_digest(source.metadata)
        stamped = [
            replace(state, digest=digest, schema=schema) if label in freshness.fresh else state
            for label, state in states.batches.items()
        ]
        covers = source.snapshot if complete else layout.covers
        head = layout.metadata.head()
        checkpoint_layout(
            services, layout, stamped, at=head.id if head else None, covers=covers, held=held
        )
        return complete

    with services.holding(str(hidden), wait=PATIENCE) as held:
        return retry(attempt, repeatable=False)


def checkpoint_layout(
    services: LayoutServices,
    layout: Layout,
    states: Iterable[BatchState],
    *,
    at: int | None,
    covers: int | None,
    held: HeldLease,
) -> None:
    """Write down the batches that a layout has at a snapshot, and which snapshot of its table it
    covers.
    """
    properties: dict[str, str | None] = {COVERS: None if covers is None else str(covers)}
    if at is not None:
        folder = sidecar_folder(services.ports.files, layout.table, layout.metadata.location)
        checkpoint = write_checkpoint(services.ports.files, folder, states, at=at)
        properties[CHECKPOINT] = checkpoint_property(checkpoint)
    services.ports.catalog.amend(
        layout.table,
        [SetProperties(properties)],
        expected=layout.pointer,
        leases=[held.require()],
    )
