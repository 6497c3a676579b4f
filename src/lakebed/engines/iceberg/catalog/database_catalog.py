"""The catalog in the lake's own database: Iceberg's JDBC tables, shared with Spark and
PyIceberg.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from lakebed.engines.database import fence
from lakebed.engines.database.state.commit_records import put_change_records
from lakebed.engines.database.state.ledger import PUBLISHED, delete_from_ledger
from lakebed.engines.database.state.naming import (
    list_dropped,
    put_dropped,
    rename_in_state,
    take_dropped,
)
from lakebed.engines.database.state.publications import (
    delete_publications,
    oldest_publication,
    published,
    record,
)
from lakebed.engines.iceberg.catalog import jdbc_rows
from lakebed.engines.iceberg.catalog.database_reader import DatabaseCatalogReader
from lakebed.engines.iceberg.catalog.staged_metadata import StagedMetadata
from lakebed.errors import PointerMoved
from lakebed.names import TableName
from lakebed.ports import (
    NO_CHANGE_RECORDS,
    NO_PUBLICATION_RECORDS,
    Amendment,
    ChangeRecords,
    DroppedTable,
    Lease,
    Pointer,
    Publication,
    PublicationRecords,
    RefMove,
    UnsettledChange,
)

_PURGES = 5


class DatabaseCatalog(DatabaseCatalogReader):
    """Every commit, of one table or of several, is one transaction of the database."""

    atomic = True
    owns_files = False

    @cached_property
    def _staged(self) -> StagedMetadata:
        return StagedMetadata(self._file_properties, now=self._database.time)

    def drop_view(self, view: TableName) -> bool:
        location = self.views().get(view)
        if location is None:
            return False
        with self._database.writing() as connection:
            return jdbc_rows.remove(connection, view, location=location)

    def create_namespace(self, namespace: str, layer: str) -> None:
        with self._database.writing() as connection:
            for name in (namespace, f"{namespace}.{layer}"):
                jdbc_rows.add_namespace(connection, name)

    def commit(
        self,
        publication: Publication,
        *,
        expected: Mapping[TableName, Pointer],
        leases: Sequence[Lease] = (),
        records: PublicationRecords = NO_PUBLICATION_RECORDS,
    ) -> None:
        staged = {
            move.table: self._staged.move(expected[move.table], move) for move in publication.moves
        }
        with (
            self._staged.kept_only_if_used(staged, expected, publication.run_id),
            self._database.writing() as connection,
        ):
            fence(connection, *leases)
            for move in publication.moves:
                swap = jdbc_rows.Swap(
                    move.table,
                    expected[move.table].location,
                    staged[move.table],
                    becomes=move.becomes,
                )
                swap.within(connection)
                if move.becomes:
                    rename_in_state(connection, move.table, move.becomes)
            record(connection, self._database, publication, state=PUBLISHED, records=records)

    def amend(
        self,
        table: TableName,
        amendments: Sequence[Amendment],
        *,
        expected: Pointer | None = None,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        present = {table: expected} if expected else self.pointers([table])
        if table not in present:
            return
        old = present[table].location
        staged = {table: self._staged.amendments(old, amendments)}
        with (
            self._staged.kept_only_if_used(staged, present, str(table)),
            self._changing(leases, records) as connection,
        ):
            jdbc_rows.Swap(table, old, staged[table]).within(connection)

    def rename(
        self,
        table: TableName,
        to: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        self.create_namespace(to.namespace, to.layer)
        seen = self.pointers([table])
        if table not in seen:
            raise PointerMoved(str(table))
        old = seen[table].location
        staged = {table: self._staged.named(old, to)}
        with (
            self._staged.kept_only_if_used(staged, seen, str(to)),
            self._changing(leases, records) as connection,
        ):
            jdbc_rows.Swap(table, old, staged[table], becomes=to).within(connection)
            rename_in_state(connection, table, to)

    def drop(
        self,
        table: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> DroppedTable | None:
        seen = self.pointers([table])
        if table not in seen:
            return None
        uuid = self.metadata(seen.values())[table].uuid
        with self._changing(leases, records) as connection:
            if jdbc_rows.location_of(connection, table) != seen[table].location:
                raise PointerMoved(str(table))
            jdbc_rows.remove(connection, table, location=seen[table].location)
            gone = put_dropped(
                connection, self._database, table, uuid=uuid, location=seen[table].location
            )
            rename_in_state(connection, table, gone.hidden_name)
        return gone

    def dropped(self) -> tuple[DroppedTable, ...]:
        return list_dropped(self._database)

    def restore(
        self,
        dropped: DroppedTable,
        to: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        self.create_namespace(to.namespace, to.layer)
        old = dropped.location
        staged = {to: old if to == dropped.table else self._staged.named(old, to)}
        with (
            self._staged.kept_only_if_used(staged, {to: dropped.pointer}, str(to)),
            self._changing(leases, records) as connection,
        ):
            take_dropped(connection, dropped)
            jdbc_rows.add(connection, to, staged[to])
            rename_in_state(connection, dropped.hidden_name, to)

    def delete_dropped(self, dropped: DroppedTable) -> None:
        with self._database.writing() as connection:
            take_dropped(connection, dropped)
            delete_from_ledger(connection, dropped)

    def register(
        self, table: TableName, location: str, *, records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        self.create_namespace(table.namespace, table.layer)
        with _named_once(table), self._changing((), records) as connection:
            jdbc_rows.add(connection, table, location)

    def clone(
        self,
        pointer: Pointer,
        to: TableName,
        *,
        snapshot: int,
        location: str | None,
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        from lakebed.engines.iceberg.metadata.cloning import write_clone

        if location is None:
            raise ValueError("a clone in this catalog needs a location")
        made = write_clone(
            pointer.location, snapshot=snapshot, to=location, properties=self._file_properties
        )
        try:
            self.register(to, made, records=records)
        except PointerMoved:
            self._staged.discard([made])
            raise

    def purge(self, table: TableName) -> None:
        for _ in range(_PURGES):
            if (seen := self.pointers([table]).get(table)) is None or self._purged(seen):
                return
        raise PointerMoved(str(table))

    def _purged(self, seen: Pointer) -> bool:
        """Whether the row was removed; if not, the table was published or changed since, and its
        folder is in use.
        """
        place = self._reader.folder_of(seen)
        with self._database.writing() as connection:
            gone = jdbc_rows.remove(connection, seen.table, location=seen.location)
            alone = place is not None and not jdbc_rows.lies_below(connection, place)
        if gone and place and alone:
            self._reader.clear(place)
        return gone

    @contextmanager
    def _changing(self, leases: Sequence[Lease], records: ChangeRecords) -> Iterator[Connection]:
        """A transaction by the holders of the leases, which also stores the records."""
        with self._database.writing() as connection:
            fence(connection, *leases)
            yield connection
            put_change_records(connection, self._database, records)

    def published(self, run_id: str) -> Publication | None:
        return published(self._database, run_id)

    def oldest_publication(self) -> datetime | None:
        return oldest_publication(self._database)

    def delete_publications(self, *, before: datetime) -> int:
        return delete_publications(self._database, before=before)

    def unsettled(self, *, own: str | None = None) -> tuple[Publication, ...]:
        return ()

    def unsettled_changes(self) -> tuple[UnsettledChange, ...]:
        return ()

    def settle_changes(self) -> None:
        """Nothing to do: a change and its records are one transaction here."""

    def settle(
        self,
        publication: Publication,
        *,
        complete: Sequence[RefMove],
        undo: Sequence[RefMove],
        whole: bool,
    ) -> None:
        """Nothing to do: a publication here is never divided."""


@contextmanager
def _named_once(table: TableName) -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        raise PointerMoved(str(table)) from error
