"""The catalog: where each table's metadata is, and commits to one table or to several at once."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from lakebed.names import TableName
from lakebed.ports.catalog.amendments import Amendment
from lakebed.ports.catalog.commit_records import (
    NO_CHANGE_RECORDS,
    NO_PUBLICATION_RECORDS,
    ChangeRecords,
    PublicationRecords,
)
from lakebed.ports.catalog.tables import MAIN, ForeignTable, Pointer, TableMetadata, ViewMetadata
from lakebed.ports.state.events import Event
from lakebed.ports.state.leases import Lease


@dataclass(frozen=True, order=True)
class RefMove:
    """One table's part of a publication: `ref` moves from `base` to `to`, and `branch` is removed.

    A first run writes to a hidden table, which `becomes` the table it was made for. `columns` are
    the columns that remain, by their present names, and `renames` gives some of them new names.
    Publications are stored as JSON: the field names are part of that format.
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
        """The name that readers use."""
        return self.becomes or self.table


@dataclass(frozen=True)
class Publication:
    """What one run publishes, all of it or nothing. `moves` are ordered by table name."""

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
    """A table that was dropped and can be restored: its files still exist."""

    uuid: str
    table: TableName
    location: str  # of its last metadata file
    at: datetime

    @property
    def pointer(self) -> Pointer:
        return Pointer(self.table, self.location)

    @property
    def hidden_name(self) -> TableName:
        """Its name in the lake's state until it is restored; on some catalogs also the table's
        own.
        """
        return TableName(
            self.table.namespace, self.table.layer, f"dropped_{self.uuid.replace('-', '')}"
        )


@dataclass(frozen=True)
class UnsettledChange:
    """A change of a table that was begun and may have happened; its records are not stored yet."""

    table: TableName
    what: str  # for messages: "the rename of … to …"


class Catalog(Protocol):
    """The tables of a lake."""

    @property
    def where(self) -> str:
        """The address for messages, without secrets."""
        ...

    @property
    def atomic(self) -> bool:
        """Whether a publication of several tables is one commit that a crash cannot divide."""
        ...

    @property
    def owns_files(self) -> bool:
        """Whether it chooses where tables are, and removes a table's files together with
        the table.
        """
        ...

    def pointers(
        self, tables: Collection[TableName] | None = None, *, named: Collection[str] | None = None
    ) -> dict[TableName, Pointer]:
        """The present pointers of these tables, or of all, read in one statement; absent tables are
        left out.

        `named` keeps only tables whose last name is one of these, ignoring case.
        """
        ...

    def metadata(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        """The metadata of each pointer; `DamagedTable` if a file is missing or unreadable."""
        ...

    def views(self) -> dict[TableName, str]:
        """The metadata files of the catalog's views."""
        ...

    def view(self, view: TableName) -> ViewMetadata | None:
        """A view's definition, whoever made it; None if it does not exist, `DamagedTable` if it
        cannot be read.
        """
        ...

    def drop_view(self, view: TableName) -> bool:
        """Remove a view from the catalog; returns whether it existed."""
        ...

    def foreign(self, *, named: Collection[str] | None = None) -> tuple[ForeignTable, ...]:
        """Every table and view whose name is not in our three parts, so that `pointers` and `views`
        omit it.

        `named` is as for `pointers`.
        """
        ...

    def create_namespace(self, namespace: str, layer: str) -> None:
        """Create a namespace for tables if it does not exist."""
        ...

    def commit(
        self,
        publication: Publication,
        *,
        expected: Mapping[TableName, Pointer],
        leases: Sequence[Lease] = (),
        records: PublicationRecords = NO_PUBLICATION_RECORDS,
    ) -> None:
        """Carry out a publication that was planned on the pointers in `expected`, and store its
        records.

        `PointerMoved` if one of them has moved since or a name is taken, `LeaseLost` if a lease was
        lost: then nothing is changed.
        """
        ...

    def published(self, run_id: str) -> Publication | None:
        """The publication of a run, if it happened and was not purged: this resolves a lost
        answer.
        """
        ...

    def oldest_publication(self) -> datetime | None:
        """When the first publication happened that was not purged; None if there is none."""
        ...

    def delete_publications(self, *, before: datetime) -> int:
        """Purge publications that happened before a time; returns how many.

        The ledger stays as it is. A run that asks again after that cannot publish twice: its branch
        went with its publication.
        """
        ...

    def unsettled(self, *, own: str | None = None) -> tuple[Publication, ...]:
        """Publications that a crash may have divided: begun, not finished, and their runs no longer
        hold their leases.

        Those of the run `own` are included whoever holds its leases. Always empty where `atomic`.
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
        """Change a table's metadata and store the records in one commit.

        Times that a clock wrote ahead of the store's are set to now, with amendments or without, so
        that Spark can commit again; a REST catalog keeps them.

        Amendments that are already in effect change nothing, and so does an absent table.
        `PointerMoved` if the table is not where it was `expected`, `LeaseLost` if a lease was lost:
        then nothing is changed.
        """
        ...

    def rename(
        self,
        table: TableName,
        to: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        """Rename a table. Its files stay where they are; the ledger, pins and protections follow
        the name.

        `PointerMoved` if the table is gone, has just changed, or the name is taken.
        """
        ...

    def drop(
        self,
        table: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> DroppedTable | None:
        """Remove a table from the catalog; returns what `restore` needs, or None if the table does
        not exist.

        Its files stay. The landing files it consumed wait again for a new table of this name. Until
        it is restored, its ledger, pins and protections have its hidden name.
        """
        ...

    def dropped(self) -> tuple[DroppedTable, ...]:
        """The tables that can be restored, last dropped first."""
        ...

    def restore(
        self,
        dropped: DroppedTable,
        to: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        """Restore a dropped table; `PointerMoved` if the name is taken or it was already
        restored.
        """
        ...

    def delete_dropped(self, dropped: DroppedTable) -> None:
        """Remove a dropped table for good, once its files are gone."""
        ...

    def register(
        self, table: TableName, location: str, *, records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        """Add a table by its metadata file; `PointerMoved` if the name is taken."""
        ...

    def clone(
        self,
        pointer: Pointer,
        to: TableName,
        *,
        snapshot: int,
        location: str | None,
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        """Create a table that shares the files of a snapshot; `PointerMoved` if the name
        is taken.
        """
        ...

    def purge(self, table: TableName) -> None:
        """Remove a hidden table and its files; nothing happens if it is absent or was renamed.

        Its folder stays if another table has files in it.
        """
        ...

    def newest_value(self, table: TableName, *, snapshot: int, column: str) -> Any:
        """The largest value of a column in a snapshot, None if all are NULL; from file statistics
        where possible. `TableDropped` if the table is gone.
        """
        ...

    def unsettled_changes(self) -> tuple[UnsettledChange, ...]:
        """Renames, drops, restores and amendments that a crash may have divided from their records:
        begun, not finished, and their processes are gone. Always empty where `atomic`.
        """
        ...

    def settle_changes(self) -> None:
        """Store the records of unsettled changes that happened, each once, and forget the others.
        Nothing to do where `atomic`.
        """
        ...

    def settle(
        self,
        publication: Publication,
        *,
        complete: Sequence[RefMove],
        undo: Sequence[RefMove],
        whole: bool,
    ) -> None:
        """Finish a divided publication: carry out `complete`, revert `undo`, and record whether it
        is now `whole`.
        """
        ...
