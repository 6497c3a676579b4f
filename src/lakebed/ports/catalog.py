"""What we ask of a catalog: where tables are, and to move several of them at once."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lakebed.names import TableName
from lakebed.ports.leases import Lease
from lakebed.ports.tables import MAIN, Pointer, TableMetadata


@dataclass(frozen=True, order=True)
class RefMove:
    """One table's part of a publication: `ref` goes from `base` to `to`, and `branch`, which stood there, goes away."""

    table: TableName
    branch: str
    to: int
    base: int | None
    ref: str = MAIN


@dataclass(frozen=True)
class Publication:
    """What one run makes visible, all of it or nothing. `moves` are in the order of table names."""

    run_id: str
    moves: tuple[RefMove, ...]


class Catalog(Protocol):
    """The tables of a lake."""

    @property
    def where(self) -> str:
        """Address for messages, without secrets."""
        ...

    @property
    def atomic(self) -> bool:
        """Whether a publication of several tables is one step that a crash cannot divide."""
        ...

    def pointers(self, tables: Collection[TableName] | None = None) -> dict[TableName, Pointer]:
        """The present pointers of these tables, or of all, read in one statement; absent tables are left out."""
        ...

    def metadata(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        """What the pointers point at; `DamagedTable` for a file that is missing or unreadable."""
        ...

    def create_namespace(self, namespace: str, layer: str) -> None:
        """Make a place for tables; one that is there is no error."""
        ...

    def swap(self, publication: Publication, *, seen: Mapping[TableName, Pointer], leases: Sequence[Lease] = ()) -> None:
        """Carry out a publication that was planned on the pointers in `seen`.

        `PointerMoved` if one of them moved since, `LeaseLost` if a lease is no longer ours: then nothing is changed.
        The publication is recorded in the same step.
        """
        ...

    def published(self, run_id: str) -> Publication | None:
        """The publication of a run, if it happened: what to ask when an answer was lost."""
        ...

    def unsettled(self, *, own: str | None = None) -> tuple[Publication, ...]:
        """Publications that a crash may have divided: begun, not finished, and their runs hold their leases no more.

        Those of the run `own` are among them whoever holds what. Always none where `atomic`.
        """
        ...

    def settle(self, publication: Publication, *, complete: Sequence[RefMove], undo: Sequence[RefMove], whole: bool) -> None:
        """Finish a divided publication: carry out `complete`, take back `undo`, and record whether it is `whole` now."""
        ...
