"""How a root and a database stand to each other, from the identities that both store."""

from dataclasses import dataclass
from enum import Enum

from lakebed.ports import LakeIdentity
from lakebed.tables.ownership.root_file import RootIdentity


class Standing(Enum):
    """What a process with this root and this database may do."""

    OWNER = "owner"
    # the root names this database, whose row was not stored yet: the claim was interrupted
    CLAIMING = "claiming"
    UNCLAIMED = "unclaimed"  # neither has an identity: the first writer makes one
    NOT_OWNER = "not the owner"  # reads; writes only after a takeover
    ELSEWHERE = "elsewhere"  # copied or moved: reads; writes only once it was relocated
    OTHER_LAKE = "another lake"  # the database belongs to another lake: not even reads


@dataclass(frozen=True)
class Identities:
    """What is compared: the identities of root and database, and what is true of both now."""

    root: RootIdentity | None
    row: LakeIdentity | None
    address: str
    fingerprint: str
    links: frozenset[str] = frozenset()  # stored addresses from which links lead to this one

    def is_here(self, address: str) -> bool:
        return address == self.address or address in self.links

    @property
    def owner(self) -> LakeIdentity | None:
        """The identity that counts: the root's, or the row's if the root's file is lost."""
        return self.root.identity if self.root else self.row

    @property
    def is_owners_database(self) -> bool:
        """Whether this is the very database that owns the lake, not a copy of it."""
        return self.owner is not None and self.owner.fingerprint == self.fingerprint


def standing_of(seen: Identities) -> Standing:
    """How they stand to each other; see `Standing`."""
    if seen.root is None:
        return _without_root(seen)
    root, row = seen.root.identity, seen.row
    if row is not None and row.id != root.id and not _was_interrupted(seen.root, row, seen):
        return Standing.OTHER_LAKE
    if not seen.is_here(root.address):
        return Standing.ELSEWHERE
    if row is None or row.id != root.id:
        return Standing.CLAIMING if seen.is_owners_database else Standing.NOT_OWNER
    if not seen.is_here(row.address):
        return Standing.ELSEWHERE
    is_owner = seen.is_owners_database and root.generation == row.generation
    return Standing.OWNER if is_owner else Standing.NOT_OWNER


def _without_root(seen: Identities) -> Standing:
    if seen.row is None:
        return Standing.UNCLAIMED
    only_file_lost = seen.is_here(seen.row.address)
    return Standing.NOT_OWNER if only_file_lost else Standing.OTHER_LAKE


def _was_interrupted(root: RootIdentity, row: LakeIdentity, seen: Identities) -> bool:
    """Whether a relocation gave this copy its id, and ended before it could change the row."""
    return row.id == root.copy_of and seen.is_owners_database
