"""Reading the catalog in the lake's own database: Iceberg's JDBC tables, shared with Spark and
PyIceberg.
"""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Row, bindparam, func, select, tuple_

from lakebed.engines.database import Database
from lakebed.engines.database.schema import iceberg_tables
from lakebed.engines.iceberg.catalog import jdbc_rows
from lakebed.engines.iceberg.metadata.reading import MetadataReader
from lakebed.errors import TableDropped
from lakebed.names import CATALOG, ForeignName, TableName
from lakebed.ports import ForeignTable, Pointer, TableMetadata, ViewMetadata

_T = iceberg_tables.c

# Made once: every query asks for pointers, and putting a statement together takes longer than the
# database does.
_POINTERS = (
    select(_T.table_namespace, _T.table_name, _T.metadata_location)
    .where(
        _T.catalog_name == CATALOG,
        _T.iceberg_type.is_distinct_from("VIEW"),
        _T.metadata_location.is_not(None),
    )
    .order_by(_T.table_namespace, _T.table_name)
)
_OF_TABLES = tuple_(_T.table_namespace, _T.table_name).in_(bindparam("tables", expanding=True))
_NAMED = func.lower(_T.table_name).in_(bindparam("names", expanding=True))
_LOOKUPS = {
    (of_tables, named): _POINTERS.where(
        *([_OF_TABLES] if of_tables else []), *([_NAMED] if named else [])
    )
    for of_tables in (True, False)
    for named in (True, False)
}
_VIEWS = (
    select(_T.table_namespace, _T.table_name, _T.metadata_location)
    .where(_T.catalog_name == CATALOG, _T.iceberg_type == "VIEW", _T.metadata_location.is_not(None))
    .order_by(_T.table_namespace, _T.table_name)
)
_EVERYTHING = (
    select(iceberg_tables)
    .where(_T.metadata_location.is_not(None))
    .order_by(_T.table_namespace, _T.table_name)
)


class DatabaseCatalogReader:
    """The part of `DatabaseCatalog` that changes nothing."""

    def __init__(
        self, database: Database, reader: MetadataReader, *, file_properties: Mapping[str, str]
    ) -> None:
        self._database, self._reader, self._file_properties = database, reader, file_properties

    @property
    def where(self) -> str:
        return self._database.where

    def pointers(
        self, tables: Collection[TableName] | None = None, *, named: Collection[str] | None = None
    ) -> dict[TableName, Pointer]:
        query = _LOOKUPS[tables is not None, named is not None]
        given = {
            "tables": [jdbc_rows.key(table) for table in tables or ()],
            "names": list({name.lower() for name in named or ()}),
        }
        with self._database.reading() as connection:
            found = connection.execute(query, given).all()
        known = (
            (jdbc_rows.name_of(row.table_namespace, row.table_name), row.metadata_location)
            for row in found
        )
        return {table: Pointer(table, location) for table, location in known if table}

    def metadata(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        return self._reader.read(pointers)

    def views(self) -> dict[TableName, str]:
        with self._database.reading() as connection:
            found = connection.execute(_VIEWS).all()
        named = (
            (jdbc_rows.name_of(row.table_namespace, row.table_name), row.metadata_location)
            for row in found
        )
        return {view: location for view, location in named if view}

    def view(self, view: TableName) -> ViewMetadata | None:
        namespace, name = jdbc_rows.key(view)
        known = _VIEWS.where(_T.table_namespace == namespace, _T.table_name == name)
        with self._database.reading() as connection:
            found = connection.execute(known).one_or_none()
        return self._reader.view(view, found.metadata_location) if found else None

    def foreign(self, *, named: Collection[str] | None = None) -> tuple[ForeignTable, ...]:
        """Includes tables of other catalogs in this database, if their files are in the lake."""
        query = _EVERYTHING
        if named is not None:  # SQLite folds letters from A to Z only
            query = query.where(
                func.lower(_T.table_name).in_({name.lower() for name in named})
                | _T.table_name.in_(named)
            )
        with self._database.reading() as connection:
            found = connection.execute(query).all()
        return tuple(
            _foreign(row)
            for row in found
            if (row.catalog_name != CATALOG and self._reader.in_lake(row.metadata_location))
            or (
                row.catalog_name == CATALOG
                and jdbc_rows.name_of(row.table_namespace, row.table_name) is None
            )
        )

    def newest_value(self, table: TableName, *, snapshot: int, column: str) -> Any:
        from lakebed.engines.iceberg.scan.newest_value import newest_value

        pointer = self.pointers([table]).get(table)
        if pointer is None:
            raise TableDropped(str(table))
        return newest_value(
            pointer.location, snapshot=snapshot, column=column, properties=self._file_properties
        )


def _foreign(row: Row[Any]) -> ForeignTable:
    ours, name = row.catalog_name == CATALOG, f"{row.table_namespace}.{row.table_name}"
    return ForeignTable(
        "view" if row.iceberg_type == "VIEW" else "table",
        name if ours else f"{name} of the catalog {row.catalog_name}",
        row.metadata_location,
        ForeignName.of((*row.table_namespace.split("."), row.table_name)) if ours else None,
    )
