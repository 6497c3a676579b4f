"""All tables there are, and the files they reach: what care must leave alone."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from lakebed.errors import DamagedTable
from lakebed.names import TableName
from lakebed.ports import Catalog, Dropped, Pointer, Reach, TableMetadata
from lakebed.settings import Root


@dataclass(frozen=True)
class Member:
    """A table, or one that was dropped and can be restored; `metadata` is None where it cannot be read by itself."""

    pointer: Pointer
    metadata: TableMetadata | None
    dropped: Dropped | None = None
    damage: str = ""

    @property
    def uuid(self) -> str:
        return self.metadata.uuid if self.metadata else self.dropped.uuid if self.dropped else ""

    @property
    def family(self) -> str:
        """What it may share files with others by; empty where that is not known."""
        return self.metadata.family if self.metadata else ""

    @property
    def place(self) -> str:
        """The address of its folder."""
        return self.metadata.location if self.metadata else self.pointer.location.rpartition("/metadata/")[0]


@dataclass(frozen=True)
class Stock:
    """Everything the catalog knows."""

    members: tuple[Member, ...]

    @cached_property
    def tables(self) -> dict[TableName, Member]:
        return {member.pointer.table: member for member in self.members if member.dropped is None}

    def damaged(self) -> str:
        """Why it is not known what some table reaches; empty where all can be read."""
        return next((member.damage for member in self.members if member.damage), "")

    def family(self, family: str, *, without: str = "") -> tuple[Member, ...]:
        """The tables that may share files; those of which that is not known are among them."""
        return tuple(
            one for one in self.members if (not one.family or not family or one.family == family) and one.uuid != without
        )


class Stocktaking:
    """Asks the catalog again and again. A metadata file never changes, so each is read once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._read: dict[str, TableMetadata] = {}

    def take(self) -> Stock:
        """Tables and dropped tables. Pointers are read twice, so that one dropped or restored meanwhile is not missed."""
        before, dropped, after = self._catalog.pointers(), self._catalog.dropped(), self._catalog.pointers()
        pointers = {(pointer.table, pointer.location): pointer for pointer in (*before.values(), *after.values())}
        self._read_at_once([pointer for pointer in after.values() if pointer.location not in self._read])
        return Stock((*map(self._member, pointers.values()), *(self._member(one.pointer, one) for one in dropped)))

    def _read_at_once(self, pointers: list[Pointer]) -> None:
        """That costs less than one by one, which is left for when one is damaged."""
        with suppress(DamagedTable):
            found = self._catalog.metadata(pointers)
            self._read |= {pointer.location: found[pointer.table] for pointer in pointers if pointer.table in found}

    def _member(self, pointer: Pointer, dropped: Dropped | None = None) -> Member:
        if known := self._read.get(pointer.location):
            return Member(pointer, known, dropped)
        try:
            found = self._catalog.metadata([pointer]).get(pointer.table)
        except DamagedTable as damage:
            return Member(pointer, None, dropped, str(damage))
        if found:
            self._read[pointer.location] = found
        return Member(pointer, found, dropped)


@dataclass(frozen=True)
class Reachable:
    """Which paths of the lake tables reach. A metadata file never changes, so each is followed once."""

    root: Root
    reach: Reach
    known: dict[str, frozenset[str]] = field(default_factory=dict)

    def by(self, members: Iterable[Member]) -> set[str]:
        """All of them; `DamagedTable` if one cannot be followed."""
        return set().union(*(self._one(member.pointer) for member in members))

    def _one(self, pointer: Pointer) -> frozenset[str]:
        if pointer.location not in self.known:
            found = (self.root.relative(file.location) for file in self.reach.files(pointer))
            self.known[pointer.location] = frozenset(path for path in found if path)
        return self.known[pointer.location]
