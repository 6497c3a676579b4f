"""Looking at all tables of a lake, as often as care needs to. What never changes is read once."""

from functools import cached_property

from lakebed.care.all_tables import Stock, Stocktaking
from lakebed.care.removal.reachable import Look, Reachable
from lakebed.ports import LakePorts
from lakebed.tables import MovedTables

_LOOKS = 5  # runs create and remove hidden tables all the time


class LakeObserver:
    """Remembers what it has read for the length of one care."""

    def __init__(self, ports: LakePorts) -> None:
        # a catalog that owns files places tables where it likes
        moved = None if ports.catalog.owns_files else MovedTables(ports.files, ports.root)
        self.reachable = Reachable(ports.files, ports.reach, moved)
        self._stocktaking = Stocktaking(ports.catalog, ports.files, ports.root)

    def take_stock(self) -> Stock:
        """All tables, as of now."""
        return self._stocktaking.take()

    @cached_property
    def first_look(self) -> Look:
        """The first look of this care: good enough to refuse by, not to remove by."""
        return self.look()

    def look(self) -> Look:
        """All tables and what they reach, as of now. Looks again if a table changed while it was
        followed.
        """
        found = self.reachable.look(self.take_stock())
        for _ in range(_LOOKS):
            again = self.take_stock() if found.refused else found.stock
            if again.rows == found.stock.rows:
                break
            found = self.reachable.look(again)
        return found
