"""The catalog kept in the lake's own database: Iceberg's JDBC tables, shared with Spark and PyIceberg."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, exists, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from lakebed.engines.database import Database, fence
from lakebed.engines.database.publications import published, record
from lakebed.engines.database.records import PUBLISHED
from lakebed.engines.database.schema import iceberg_namespaces, iceberg_tables
from lakebed.engines.iceberg.reading import MetadataReader
from lakebed.errors import BadName, LakebedError, PointerMoved
from lakebed.names import CATALOG, TableName
from lakebed.ports import NOTHING_ALONG, Along, Lease, Pointer, Publication, RefMove, TableMetadata

_T = iceberg_tables.c


class DatabaseCatalog:
    """Tables, and publications of several of them, as one transaction of one database."""

    atomic = True

    def __init__(self, database: Database, reader: MetadataReader, *, file_properties: Mapping[str, str]) -> None:
        self._database, self._reader, self._file_properties = database, reader, file_properties

    @property
    def where(self) -> str:
        return self._database.where

    def pointers(self, tables: Collection[TableName] | None = None) -> dict[TableName, Pointer]:
        query = select(_T.table_namespace, _T.table_name, _T.metadata_location).where(
            _T.catalog_name == CATALOG, _T.iceberg_type.is_distinct_from("VIEW"), _T.metadata_location.is_not(None)
        )
        if tables is not None:
            query = query.where(tuple_(_T.table_namespace, _T.table_name).in_([_key(table) for table in tables]))
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(_T.table_namespace, _T.table_name)).all()
        named = ((_name(row.table_namespace, row.table_name), row.metadata_location) for row in rows)
        return {table: Pointer(table, location) for table, location in named if table}

    def metadata(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        return self._reader.read(pointers)

    def create_namespace(self, namespace: str, layer: str) -> None:
        with self._database.writing() as connection:
            for name in (namespace, f"{namespace}.{layer}"):
                row = {"catalog_name": CATALOG, "namespace": name, "property_key": "exists"}
                known = select(exists().where(*(iceberg_namespaces.c[key] == value for key, value in row.items())))
                if not connection.execute(known).scalar():
                    connection.execute(insert(iceberg_namespaces).values(**row, property_value="true"))

    def swap(
        self,
        publication: Publication,
        *,
        seen: Mapping[TableName, Pointer],
        leases: Sequence[Lease] = (),
        along: Along = NOTHING_ALONG,
    ) -> None:
        staged = {move.table: self._stage(seen[move.table], move) for move in publication.moves}
        with self._kept_only_if_used(staged, seen, publication.run_id), self._database.writing() as connection:
            _fence(connection, leases)
            for move in publication.moves:
                swap = _Swap(move.table, seen[move.table].location, staged[move.table], becomes=move.becomes)
                swap.within(connection)
            record(connection, self._database, publication, state=PUBLISHED, along=along)

    def tidy(self, table: TableName, *, branches: Collection[str], schema: int | None, leases: Sequence[Lease] = ()) -> None:
        from lakebed.engines.iceberg.staging import stage_tidy

        seen = self.pointers([table])
        if table not in seen:
            return
        staged = {table: stage_tidy(seen[table].location, branches, schema, properties=self._file_properties)}
        if staged[table] == seen[table].location:
            return
        with self._kept_only_if_used(staged, seen, str(table)), self._database.writing() as connection:
            _fence(connection, leases)
            _Swap(table, seen[table].location, staged[table]).within(connection)

    def drop(self, table: TableName) -> None:
        seen = self.pointers([table])
        if table not in seen:
            return
        place = self._reader.folder_of(seen[table])
        namespace, name = _key(table)
        row = (_T.catalog_name == CATALOG, _T.table_namespace == namespace, _T.table_name == name)
        with self._database.writing() as connection:
            connection.execute(delete(iceberg_tables).where(*row))
        if place:
            self._reader.clear(place)

    def newest_value(self, table: TableName, *, snapshot: int, column: str) -> Any:
        from lakebed.engines.iceberg.newest import newest_value

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
        from lakebed.engines.iceberg.staging import stage_move

        return stage_move(pointer.location, move, properties=self._file_properties)

    def _discard(self, locations: Collection[str]) -> None:
        from lakebed.engines.iceberg.staging import discard

        for location in locations:
            discard(location, properties=self._file_properties)

    def published(self, run_id: str) -> Publication | None:
        return published(self._database, run_id)

    def unsettled(self, *, own: str | None = None) -> tuple[Publication, ...]:
        return ()

    def settle(self, publication: Publication, *, complete: Sequence[RefMove], undo: Sequence[RefMove], whole: bool) -> None:
        """Nothing to do: a publication here is never divided."""


@dataclass(frozen=True)
class _Swap:
    """A table's pointer from one metadata file to the next, under its name or a new one."""

    table: TableName
    old: str
    new: str
    becomes: TableName | None = None

    def within(self, connection: Connection) -> None:
        """As part of a transaction; `PointerMoved` if the pointer is not what it was."""
        namespace, name = _key(self.table)
        values = {"metadata_location": self.new, "table_name": (self.becomes or self.table).name}
        if self.new != self.old:
            values["previous_metadata_location"] = self.old
        at = (_T.table_namespace == namespace, _T.table_name == name, _T.metadata_location == self.old)
        swapped = connection.execute(update(iceberg_tables).where(_T.catalog_name == CATALOG, *at).values(**values))
        if swapped.rowcount != 1:
            raise PointerMoved(str(self.table))


def _fence(connection: Connection, leases: Sequence[Lease]) -> None:
    for lease in sorted(leases, key=lambda lease: lease.name):
        fence(connection, lease)


def _key(table: TableName) -> tuple[str, str]:
    return (f"{table.namespace}.{table.layer}", table.name)


def _name(namespace: str, name: str) -> TableName | None:
    """Our name for a row; None for a table that somebody made outside our three parts."""
    first, _, layer = namespace.partition(".")
    try:
        return TableName(first, layer, name)
    except BadName:
        return None
