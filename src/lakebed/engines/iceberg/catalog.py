"""The catalog kept in the lake's own database: Iceberg's JDBC tables, shared with Spark and PyIceberg."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, exists, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from lakebed.engines.database import Database, fence
from lakebed.engines.database.publications import PUBLISHED, published, record
from lakebed.engines.database.schema import iceberg_namespaces, iceberg_tables
from lakebed.engines.iceberg.reading import MetadataReader
from lakebed.errors import BadName, LakebedError, PointerMoved
from lakebed.names import CATALOG, TableName
from lakebed.ports import Lease, Pointer, Publication, RefMove, TableMetadata

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

    def swap(self, publication: Publication, *, seen: Mapping[TableName, Pointer], leases: Sequence[Lease] = ()) -> None:
        staged = {move.table: self._stage(seen[move.table], move) for move in publication.moves}
        try:
            self._commit(publication, seen, staged, leases)
        except (PointerMoved, IntegrityError) as error:
            self._discard(staged.values())
            if isinstance(error, IntegrityError):  # a twin of this run published first: looking again will show it
                raise PointerMoved(str(publication.moves[0].table)) from error
            raise
        except LakebedError as error:
            if not error.retryable:  # otherwise the outcome may be unknown, and the files may be in use
                self._discard(staged.values())
            raise

    def _commit(
        self,
        publication: Publication,
        seen: Mapping[TableName, Pointer],
        staged: Mapping[TableName, str],
        leases: Sequence[Lease],
    ) -> None:
        with self._database.writing() as connection:
            for lease in sorted(leases, key=lambda lease: lease.name):
                fence(connection, lease)
            for move in publication.moves:
                _point(connection, move.table, old=seen[move.table].location, new=staged[move.table])
            record(connection, self._database, publication, state=PUBLISHED)

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


def _point(connection: Connection, table: TableName, *, old: str, new: str) -> None:
    namespace, name = _key(table)
    swapped = connection.execute(
        update(iceberg_tables)
        .where(_T.catalog_name == CATALOG, _T.table_namespace == namespace, _T.table_name == name, _T.metadata_location == old)
        .values(metadata_location=new, previous_metadata_location=old)
    )
    if swapped.rowcount != 1:
        raise PointerMoved(str(table))


def _key(table: TableName) -> tuple[str, str]:
    return (f"{table.namespace}.{table.layer}", table.name)


def _name(namespace: str, name: str) -> TableName | None:
    """Our name for a row; None for a table that somebody made outside our three parts."""
    first, _, layer = namespace.partition(".")
    try:
        return TableName(first, layer, name)
    except BadName:
        return None
