"""The catalog kept in the lake's own database: Iceberg's JDBC tables, shared with Spark and PyIceberg."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Row, func, select, tuple_
from sqlalchemy.exc import IntegrityError

from lakebed.engines.database import Database, fence
from lakebed.engines.database.schema import iceberg_tables
from lakebed.engines.database.state.commit_records import put_change_records
from lakebed.engines.database.state.dropped import list_dropped, put_dropped, take_dropped
from lakebed.engines.database.state.ledger import PUBLISHED, delete_from_ledger, rename_in_ledger
from lakebed.engines.database.state.publications import published, record
from lakebed.engines.iceberg.catalog import jdbc_rows
from lakebed.engines.iceberg.metadata.reading import MetadataReader
from lakebed.errors import LakebedError, PointerMoved
from lakebed.names import CATALOG, ForeignName, TableName
from lakebed.ports import (
    NAME,
    NO_CHANGE_RECORDS,
    NO_PUBLICATION_RECORDS,
    Amendment,
    ChangeRecords,
    DroppedTable,
    ForeignTable,
    Lease,
    Pointer,
    Publication,
    PublicationRecords,
    RefMove,
    SetProperties,
    TableMetadata,
    ViewMetadata,
)

_T = iceberg_tables.c

_POINTERS = (  # made once: every query asks it
    select(_T.table_namespace, _T.table_name, _T.metadata_location)
    .where(_T.catalog_name == CATALOG, _T.iceberg_type.is_distinct_from("VIEW"), _T.metadata_location.is_not(None))
    .order_by(_T.table_namespace, _T.table_name)
)
_VIEWS = (
    select(_T.table_namespace, _T.table_name, _T.metadata_location)
    .where(_T.catalog_name == CATALOG, _T.iceberg_type == "VIEW", _T.metadata_location.is_not(None))
    .order_by(_T.table_namespace, _T.table_name)
)
_EVERYTHING = select(iceberg_tables).where(_T.metadata_location.is_not(None)).order_by(_T.table_namespace, _T.table_name)
_PURGES = 5


class DatabaseCatalog:
    """Tables, and publications of several of them, as one transaction of one database."""

    atomic = True
    owns_files = False

    def __init__(self, database: Database, reader: MetadataReader, *, file_properties: Mapping[str, str]) -> None:
        self._database, self._reader, self._file_properties = database, reader, file_properties

    @property
    def where(self) -> str:
        return self._database.where

    def pointers(
        self, tables: Collection[TableName] | None = None, *, named: Collection[str] | None = None
    ) -> dict[TableName, Pointer]:
        query = _POINTERS
        if tables is not None:
            query = query.where(tuple_(_T.table_namespace, _T.table_name).in_([jdbc_rows.key(table) for table in tables]))
        if named is not None:
            query = query.where(func.lower(_T.table_name).in_({name.lower() for name in named}))
        with self._database.reading() as connection:
            found = connection.execute(query).all()
        known = ((jdbc_rows.name_of(row.table_namespace, row.table_name), row.metadata_location) for row in found)
        return {table: Pointer(table, location) for table, location in known if table}

    def metadata(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        return self._reader.read(pointers)

    def views(self) -> dict[TableName, str]:
        with self._database.reading() as connection:
            found = connection.execute(_VIEWS).all()
        named = ((jdbc_rows.name_of(row.table_namespace, row.table_name), row.metadata_location) for row in found)
        return {view: location for view, location in named if view}

    def view(self, view: TableName) -> ViewMetadata | None:
        namespace, name = jdbc_rows.key(view)
        known = _VIEWS.where(_T.table_namespace == namespace, _T.table_name == name)
        with self._database.reading() as connection:
            found = connection.execute(known).one_or_none()
        return self._reader.view(view, found.metadata_location) if found else None

    def drop_view(self, view: TableName) -> bool:
        location = self.views().get(view)
        if location is None:
            return False
        with self._database.writing() as connection:
            return jdbc_rows.remove(connection, view, location=location)

    def foreign(self, *, named: Collection[str] | None = None) -> tuple[ForeignTable, ...]:
        """Those of other catalogs in this database too, if they lie in the lake."""
        query = _EVERYTHING
        if named is not None:  # SQLite folds letters from A to Z only
            query = query.where(func.lower(_T.table_name).in_({name.lower() for name in named}) | _T.table_name.in_(named))
        with self._database.reading() as connection:
            found = connection.execute(query).all()
        return tuple(
            _foreign(row)
            for row in found
            if (row.catalog_name != CATALOG and self._reader.in_lake(row.metadata_location))
            or (row.catalog_name == CATALOG and jdbc_rows.name_of(row.table_namespace, row.table_name) is None)
        )

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
        staged = {move.table: self._stage(expected[move.table], move) for move in publication.moves}
        with self._kept_only_if_used(staged, expected, publication.run_id), self._database.writing() as connection:
            _fence(connection, leases)
            for move in publication.moves:
                swap = jdbc_rows.Swap(move.table, expected[move.table].location, staged[move.table], becomes=move.becomes)
                swap.within(connection)
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
        from lakebed.engines.iceberg.metadata.staging import stage_amendments

        present = {table: expected} if expected else self.pointers([table])
        if table not in present:
            return
        old = present[table].location
        staged = {table: stage_amendments(old, amendments, properties=self._file_properties)}
        with self._kept_only_if_used(staged, present, str(table)), self._changing(leases, records) as connection:
            jdbc_rows.Swap(table, old, staged[table]).within(connection)

    def rename(
        self, table: TableName, to: TableName, *, leases: Sequence[Lease] = (), records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        self.create_namespace(to.namespace, to.layer)
        with _named_once(to), self._changing(leases, records) as connection:
            location = jdbc_rows.location_of(connection, table)
            if location is None:
                raise PointerMoved(str(table))
            jdbc_rows.Swap(table, location, self._named(location, to), becomes=to).within(connection)
            rename_in_ledger(connection, table, to)

    def drop(
        self, table: TableName, *, leases: Sequence[Lease] = (), records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> DroppedTable | None:
        seen = self.pointers([table])
        if table not in seen:
            return None
        uuid = self.metadata(seen.values())[table].uuid
        with self._changing(leases, records) as connection:
            if jdbc_rows.location_of(connection, table) != seen[table].location:
                raise PointerMoved(str(table))
            jdbc_rows.remove(connection, table, location=seen[table].location)
            gone = put_dropped(connection, self._database, table, uuid=uuid, location=seen[table].location)
            rename_in_ledger(connection, table, gone.hidden_name)
        return gone

    def dropped(self) -> tuple[DroppedTable, ...]:
        return list_dropped(self._database)

    def restore(self, dropped: DroppedTable, to: TableName, *, records: ChangeRecords = NO_CHANGE_RECORDS) -> None:
        self.create_namespace(to.namespace, to.layer)
        with _named_once(to), self._changing((), records) as connection:
            take_dropped(connection, dropped)
            jdbc_rows.add(connection, to, dropped.location if to == dropped.table else self._named(dropped.location, to))
            rename_in_ledger(connection, dropped.hidden_name, to)

    def delete_dropped(self, dropped: DroppedTable) -> None:
        with self._database.writing() as connection:
            take_dropped(connection, dropped)
            delete_from_ledger(connection, dropped.hidden_name)

    def register(self, table: TableName, location: str, *, records: ChangeRecords = NO_CHANGE_RECORDS) -> None:
        self.create_namespace(table.namespace, table.layer)
        with _named_once(table), self._changing((), records) as connection:
            jdbc_rows.add(connection, table, location)

    def clone(
        self, pointer: Pointer, to: TableName, *, snapshot: int, location: str | None, records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        from lakebed.engines.iceberg.metadata.cloning import write_clone

        if location is None:
            raise ValueError("a table of this catalog has a location")
        made = write_clone(pointer.location, snapshot=snapshot, to=location, properties=self._file_properties)
        try:
            self.register(to, made, records=records)
        except PointerMoved:
            self._discard([made])
            raise

    def purge(self, table: TableName) -> None:
        for _ in range(_PURGES):
            if (seen := self.pointers([table]).get(table)) is None or self._purged(seen):
                return
        raise PointerMoved(str(table))

    def _purged(self, seen: Pointer) -> bool:
        """Whether a row went. If none did, the table was published or changed since it was seen, and its folder is in use."""
        place = self._reader.folder_of(seen)
        with self._database.writing() as connection:
            gone = jdbc_rows.remove(connection, seen.table, location=seen.location)
            alone = place is not None and not jdbc_rows.lies_below(connection, place)
        if gone and place and alone:
            self._reader.clear(place)
        return gone

    @contextmanager
    def _changing(self, leases: Sequence[Lease], records: ChangeRecords) -> Iterator[Connection]:
        """A transaction of those who hold the leases, with what goes along."""
        with self._database.writing() as connection:
            _fence(connection, leases)
            yield connection
            put_change_records(connection, self._database, records)

    def newest_value(self, table: TableName, *, snapshot: int, column: str) -> Any:
        from lakebed.engines.iceberg.scan.newest_value import newest_value

        location = self.pointers([table])[table].location
        return newest_value(location, snapshot=snapshot, column=column, properties=self._file_properties)

    @contextmanager
    def _kept_only_if_used(self, staged: Mapping[TableName, str], seen: Mapping[TableName, Pointer], what: str) -> Iterator[None]:
        """Staged metadata files go again if the transaction certainly did not happen."""
        fresh = [location for table, location in staged.items() if location != seen[table].location]
        try:
            yield
        except (PointerMoved, IntegrityError) as error:
            self._discard(fresh)
            if isinstance(error, IntegrityError):  # a twin published first, or the name is taken: looking again will show it
                raise PointerMoved(what) from error
            raise
        except LakebedError as error:
            if not error.retryable:  # otherwise the outcome may be unknown, and the files may be in use
                self._discard(fresh)
            raise

    def _stage(self, pointer: Pointer, move: RefMove) -> str:
        from lakebed.engines.iceberg.metadata.staging import stage_move

        return stage_move(pointer.location, move, properties=self._file_properties)

    def _named(self, location: str, table: TableName) -> str:
        """Metadata that says what the table is called: its folder does not, and the catalog may be lost some day."""
        from lakebed.engines.iceberg.metadata.staging import stage_amendments

        return stage_amendments(location, [SetProperties({NAME: str(table)})], properties=self._file_properties)

    def _discard(self, locations: Collection[str]) -> None:
        from lakebed.engines.iceberg.metadata.staging import discard

        for location in locations:
            discard(location, properties=self._file_properties)

    def published(self, run_id: str) -> Publication | None:
        return published(self._database, run_id)

    def unsettled(self, *, own: str | None = None) -> tuple[Publication, ...]:
        return ()

    def settle(self, publication: Publication, *, complete: Sequence[RefMove], undo: Sequence[RefMove], whole: bool) -> None:
        """Nothing to do: a publication here is never divided."""


def _foreign(row: Row[Any]) -> ForeignTable:
    ours, name = row.catalog_name == CATALOG, f"{row.table_namespace}.{row.table_name}"
    return ForeignTable(
        "view" if row.iceberg_type == "VIEW" else "table",
        name if ours else f"{name} of the catalog {row.catalog_name}",
        row.metadata_location,
        ForeignName.of((*row.table_namespace.split("."), row.table_name)) if ours else None,
    )


def _fence(connection: Connection, leases: Sequence[Lease]) -> None:
    for lease in sorted(leases, key=lambda lease: lease.name):
        fence(connection, lease)


@contextmanager
def _named_once(table: TableName) -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        raise PointerMoved(str(table)) from error
