"""Which lake a database belongs to, and which database a lake belongs to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class LakeIdentity:
    """What the root and its database both store, to recognize each other.

    `fingerprint` is that of the database that owns the lake. `generation` grows with every
    takeover: it tells apart databases that have one fingerprint, since one is a copy of the other.
    """

    id: str
    address: str
    generation: int
    fingerprint: str


class IdentityRow(Protocol):
    """The identity that a database stores, and what no copy of its rows carries."""

    @property
    def where(self) -> str:
        """The database, as messages name it."""
        ...

    @property
    def is_in_root(self) -> bool:
        """Whether the database is a file of the lake, which is copied and moved with it."""
        ...

    def is_blank(self) -> bool:
        """Whether it holds no rows but those that every lake has; changes nothing."""
        ...

    def prepare(self, *, before_first: Callable[[], None]) -> None:
        """Bring the tables of the database to the newest version.

        `before_first` is called if Lakebed has never used this database. If it raises, the
        database stays as it is.
        """
        ...

    def fingerprint(self) -> str:
        """What identifies this database: no dump, backup or restored row of it has the same."""
        ...

    def read(self) -> LakeIdentity | None:
        """The stored identity; None before the first, and before the database was prepared."""
        ...

    def store(self, identity: LakeIdentity, *, instead_of: LakeIdentity | None) -> bool:
        """Store an identity if the present one is still `instead_of`; False if it is not."""
        ...
