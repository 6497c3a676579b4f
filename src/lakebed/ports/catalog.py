"""What we ask of a catalog: where tables are, and to move several of them at once."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from lakebed.names import TableName
from lakebed.ports.amendments import Amendment
from lakebed.ports.commit_records import NO_CHANGE_RECORDS, NO_PUBLICATION_RECORDS, ChangeRecords, PublicationRecords
from lakebed.ports.events import Event
from lakebed.ports.leases import Lease
from lakebed.ports.tables import MAIN, ForeignTable, Pointer, TableMetadata, ViewMetadata


@dataclass(frozen=True, order=True)
class RefMove:
    """One table's part of a publication: `ref` goes from `base` to `to`, and `branch` goes away.

    A first run's hidden table `becomes` the table it was made for; `columns` are those the table has from then on, by their
    present names, and `renames` the names that some of them get.
    """

    table: TableName
    branch: str
    to: int
    base: int | None
    ref: str = MAIN
    becomes: TableName | None = None
    columns: tuple[str, ...] | None = None
    renames: tuple[tuple[str, str], ...] = ()

    @property
    def published(self) -> TableName:
        """The name under which readers find it."""
        return self.becomes or self.table


@dataclass(frozen=True)
class Publication:
    """What one run makes visible, all of it or nothing. `moves` are in the order of table names."""

    run_id: str
    moves: tuple[RefMove, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """What followers are told; a ref that stays where it is has no event."""
        return tuple(
            Event("published", move.published, move.to, {"ref": move.ref, "run": self.run_id})
            for move in self.moves
            if move.to != move.base
        )


@dataclass(frozen=True)
class DroppedTable:
    """A table that was dropped, and whose files are still there."""

    uuid: str
    table: TableName
    location: str  # of its last metadata file
    at: datetime

    @property
    def pointer(self) -> Pointer:
        return Pointer(self.table, self.location)

    @property
    def hidden_name(self) -> TableName:
        """The name under which its books are kept meanwhile, and on some catalogs the table itself."""
        return TableName(self.table.namespace, self.table.layer, f"dropped_{self.uuid.replace('-', '')}")


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

    @property
    def owns_files(self) -> bool:
        """Whether it places tables itself, and removes a table's files together with the table."""
        ...

    def pointers(
        self, tables: Collection[TableName] | None = None, *, named: Collection[str] | None = None
    ) -> dict[TableName, Pointer]:
        """The present pointers of these tables, or of all, read in one statement; absent tables are left out.

        `named` leaves out tables whose last name is none of these, whatever its case.
        """
        ...

    def metadata(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        """What the pointers point at; `DamagedTable` for a file that is missing or unreadable."""
        ...

    def views(self) -> dict[TableName, str]:
        """The metadata files of the catalog's views."""
        ...

    def view(self, view: TableName) -> ViewMetadata | None:
        """What a view is, whoever made it; None if there is none. `DamagedTable` if its metadata cannot be read."""
        ...

    def drop_view(self, view: TableName) -> bool:
        """Take a view out of the catalog; whether there was one."""
        ...

    def foreign(self, *, named: Collection[str] | None = None) -> tuple[ForeignTable, ...]:
        """Every table and view that `pointers` and `views` leave out, as no name of ours fits it; `named` as for `pointers`."""
        ...

    def create_namespace(self, namespace: str, layer: str) -> None:
        """Make a place for tables; one that is there is no error."""
        ...

    def commit(
        self,
        publication: Publication,
        *,
        expected: Mapping[TableName, Pointer],
        leases: Sequence[Lease] = (),
        records: PublicationRecords = NO_PUBLICATION_RECORDS,
    ) -> None:
        """Carry out a publication that was planned on the pointers in `seen`.

        `PointerMoved` if one of them moved since, or a name is taken; `LeaseLost` if a lease is no longer ours: then
        nothing is changed. The publication is recorded in the same step, and so is what goes `along`.
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

    def amend(
        self,
        table: TableName,
        amendments: Sequence[Amendment],
        *,
        expected: Pointer | None = None,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        """Change a table's metadata in one commit, and write down what goes `along` in the same step.

        What is so already, and refs that are gone already, need no change. `PointerMoved` if the table is not where it was
        `seen`, `LeaseLost` if a lease is no longer ours: then nothing is changed. An absent table is no error.
        """
        ...

    def rename(
        self, table: TableName, to: TableName, *, leases: Sequence[Lease] = (), records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        """Give a table another name; its files stay where they are, and which landing files it has taken stays known.

        `PointerMoved` if it is gone, or the name is taken.
        """
        ...

    def drop(
        self, table: TableName, *, leases: Sequence[Lease] = (), records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> DroppedTable | None:
        """Take a table out of the catalog; its files stay, and it can be restored. None if there is none.

        Landing files that it has taken wait again for whoever makes the table anew.
        """
        ...

    def dropped(self) -> tuple[DroppedTable, ...]:
        """The tables that can be restored, last dropped first."""
        ...

    def restore(self, dropped: DroppedTable, to: TableName, *, records: ChangeRecords = NO_CHANGE_RECORDS) -> None:
        """Bring a dropped table back under a name; `PointerMoved` if that is taken or somebody else restored it."""
        ...

    def delete_dropped(self, dropped: DroppedTable) -> None:
        """A dropped table's files are gone, so it can be restored no more."""
        ...

    def register(self, table: TableName, location: str, *, records: ChangeRecords = NO_CHANGE_RECORDS) -> None:
        """Take up a table by its metadata file; `PointerMoved` if the name is taken."""
        ...

    def clone(
        self, pointer: Pointer, to: TableName, *, snapshot: int, location: str | None, records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        """A table of its own with the rows of a snapshot, whose files both share; `PointerMoved` if the name is taken."""
        ...

    def purge(self, table: TableName) -> None:
        """Remove a hidden table and its files; one that is not there, or was given another name, is no error.

        Its folder stays if another table lies in it.
        """
        ...

    def newest_value(self, table: TableName, *, snapshot: int, column: str) -> Any:
        """The largest value of a column in a snapshot, None where all are NULL; read from file statistics where these say it."""
        ...

    def settle(self, publication: Publication, *, complete: Sequence[RefMove], undo: Sequence[RefMove], whole: bool) -> None:
        """Finish a divided publication: carry out `complete`, take back `undo`, and record whether it is `whole` now."""
        ...
