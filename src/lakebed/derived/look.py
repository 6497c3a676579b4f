"""The layouts of a table as they are now, each with the batches that are fresh."""

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock

from cachetools import LRUCache

from lakebed.batches.sidecars import known_batches
from lakebed.batches.state import BatchStates
from lakebed.derived.freshness import ChangesSince, Freshness, compare_batches
from lakebed.derived.identity import Layout, ReadMetadata, find_layouts
from lakebed.derived.labels import PartitionValues
from lakebed.ports import LakePorts, Pointer, Scans, TableMetadata

_KEPT = 256  # looks


@dataclass(frozen=True)
class LayoutState:
    """A layout, what its snapshots tell about its batches, and which of them are fresh."""

    layout: Layout
    states: BatchStates
    freshness: Freshness


def changes_until(scans: Scans, pointer: Pointer, until: int | None) -> ChangesSince:
    """Tells what changed in a table up to a snapshot; nothing is known of one that has none."""

    def changes(since: int) -> Iterable[PartitionValues] | None:
        found = None if until is None else scans.changes(pointer, since=since, until=until)
        return None if found is None else [file.partition for file in found]

    return changes


class LayoutLooks:
    """Looks at the layouts of tables. Metadata files never change, so a look is made once for each
    pair of them.
    """

    def __init__(self, ports: LakePorts) -> None:
        self._ports = ports
        self._known: LRUCache[tuple[str, str], LayoutState] = LRUCache(_KEPT)
        self._lock = Lock()

    def look(
        self, pointer: Pointer, source: TableMetadata, *, metadata: ReadMetadata | None = None
    ) -> tuple[LayoutState, ...]:
        """The layouts of a table, compared with its present state."""
        found = find_layouts(source, self._ports.catalog, metadata=metadata)
        return tuple(self._state(layout, pointer, source) for layout in found)

    def _state(self, layout: Layout, pointer: Pointer, source: TableMetadata) -> LayoutState:
        key = (layout.pointer.location, pointer.location)
        with self._lock:
            if key in self._known:
                return self._known[key]
        states = known_batches(self._ports.files, layout.metadata)
        head = source.head()
        changes = changes_until(self._ports.scans, pointer, head.id if head else None)
        state = LayoutState(layout, states, compare_batches(layout, states, source, changes))
        with self._lock:
            self._known[key] = state
        return state
