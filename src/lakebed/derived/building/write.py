"""Writing batches of a layout: each commit says which ones it replaces, and what they were made
from.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256

from lakebed.batches.keys import BatchKey, KeyValues
from lakebed.batches.sidecars import known_batches
from lakebed.batches.state import BATCH, BatchState, batch_summary
from lakebed.derived.building.batches import BatchSize, any_batch
from lakebed.derived.building.columns import rows_query
from lakebed.derived.building.look import SourceState, freshness_of, read_layout_table
from lakebed.derived.building.services import LayoutServices, LayoutSession
from lakebed.derived.building.stamp import PATIENCE, checkpoint_layout
from lakebed.derived.building.steps import LayoutDone
from lakebed.derived.freshness import columns_digest, source_digest
from lakebed.derived.identity import Layout
from lakebed.errors import Conflict, LakebedError, LeaseHeld
from lakebed.names import TableName
from lakebed.tables import HeldLease
from lakebed.work import retry

_LONGEST = 200  # characters of a label in the name of a lease
_ATTEMPTS = 5  # if others commit to the same batches meanwhile


@dataclass(frozen=True)
class LayoutWriter:
    """Writes one layout from one snapshot of its table."""

    services: LayoutServices
    session: LayoutSession
    source: SourceState
    hidden: TableName
    keys: tuple[BatchKey, ...]

    def build(self, batches: Sequence[BatchSize]) -> LayoutDone:
        """Write these batches; those that others have built, or are building, are left out."""
        with self._leased(batches) as held:
            mine = [batch for batch in batches if batch.label in held]
            skipped = [batch.label for batch in batches if batch.label not in held]
            for attempt in range(1, _ATTEMPTS + 1):
                layout = read_layout_table(self.services, self.hidden)
                _, freshness = freshness_of(self.services, self.source, layout)
                skipped += [batch.label for batch in mine if batch.label in freshness.fresh]
                mine = [batch for batch in mine if batch.label not in freshness.fresh]
                if not mine or self._wrote(layout, mine, held.values(), last=attempt == _ATTEMPTS):
                    break
        return LayoutDone(
            built=len(mine),
            files=sum(batch.files for batch in mine),
            bytes=sum(batch.bytes for batch in mine),
            skipped=tuple(skipped),
        )

    def _wrote(
        self,
        layout: Layout,
        batches: Sequence[BatchSize],
        held: Iterable[HeldLease],
        *,
        last: bool,
    ) -> bool:
        """Whether the batches were written; not if others were faster."""
        where = any_batch(self.keys, [batch.values for batch in batches])
        query = rows_query(
            self.source.table, self.source.metadata, self.source.snapshot, where=where
        )
        states = [self._state(layout, batch) for batch in batches]
        for one in held:
            one.require()
        try:
            self._replace(layout, query, where, states)
        except LakebedError as error:
            if self._is_there(states):  # the answer was lost, or another process was as fast
                return True
            if last or not isinstance(error, Conflict):
                raise
            return False
        return True

    def _state(self, layout: Layout, batch: BatchSize) -> BatchState:
        return BatchState(
            batch.label,
            source_digest(self.source.metadata.uuid, self.source.snapshot),
            layout.spec.digest,
            columns_digest(self.source.metadata),
            batch.files,
            batch.bytes,
        )

    def _is_there(self, states: Sequence[BatchState]) -> bool:
        layout = read_layout_table(self.services, self.hidden)
        known = known_batches(self.services.ports.files, layout.metadata).batches
        return all(
            state.label in known
            and known[state.label].digest == state.digest
            and known[state.label].config == state.config
            and known[state.label].schema == state.schema
            for state in states
        )

    def _replace(
        self, layout: Layout, query: str, where: str, states: Sequence[BatchState]
    ) -> None:
        compute, head = self.session.compute, layout.metadata.head()
        compute.set_snapshot_property(BATCH, batch_summary(*states))
        compute.replace_files(
            compute.query(query), self.hidden.spark, where=where, since=head.id if head else None
        )

    def remove(self, batches: Sequence[tuple[str, KeyValues]]) -> LayoutDone:
        """Remove the rows of these batches."""
        gone = [BatchState(label, "", "") for label, _ in batches]
        self._empty(any_batch(self.keys, [values for _, values in batches]), gone)
        return LayoutDone()

    def clear(self) -> LayoutDone:
        """Remove all rows. What was there before is history from then on, whoever wrote it."""
        with self.services.holding(str(self.hidden), wait=PATIENCE) as held:
            layout = read_layout_table(self.services, self.hidden)
            known = known_batches(self.services.ports.files, layout.metadata).batches
            self._empty("TRUE", [BatchState(label, "", "") for label in known or ("",)])
            cleared = retry(lambda: self._begin_anew(held), repeatable=False)
        return LayoutDone(message="" if cleared else "others have written into it again")

    def _begin_anew(self, held: HeldLease) -> bool:
        """A checkpoint without batches, at the snapshot that has removed all rows."""
        layout = read_layout_table(self.services, self.hidden)
        head = layout.metadata.head()
        for snapshot in layout.metadata.ancestry(head.id if head else None):
            if snapshot.run_id == self.session.id:
                checkpoint_layout(self.services, layout, (), at=snapshot.id, covers=None, held=held)
                return True
        return False

    def _empty(self, where: str, states: Sequence[BatchState]) -> None:
        layout = read_layout_table(self.services, self.hidden)
        nothing = f"SELECT * FROM {self.hidden.spark} LIMIT 0"
        self._replace(layout, nothing, where, states)

    @contextmanager
    def _leased(self, batches: Sequence[BatchSize]) -> Iterator[dict[str, HeldLease]]:
        """The leases of batches, by label, without those that others have."""
        held: dict[str, HeldLease] = {}
        with ExitStack() as leases:
            for batch in batches:
                with suppress(LeaseHeld):
                    name = batch_lease(self.hidden, batch.label)
                    held[batch.label] = leases.enter_context(self.services.holding(name))
            yield held


def batch_lease(hidden: TableName, label: str) -> str:
    """The name of the lease on a batch; long labels are told by their digest."""
    short = label if len(label) <= _LONGEST else sha256(label.encode()).hexdigest()
    return f"{hidden}#{short}"
