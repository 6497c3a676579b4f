"""Rows of Iceberg's JDBC catalog. Each function is part of the caller's transaction."""

from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import ColumnElement, Connection, delete, exists, insert, select, text, update

from lakebed.engines.database.schema import dropped, iceberg_tables
from lakebed.errors import BadName, PointerMoved
from lakebed.names import CATALOG, TableName

_T = iceberg_tables.c
_NAMESPACE = text(  # both databases know ON CONFLICT; asking first and inserting then is a race
    "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key,"
    " property_value) VALUES (:catalog, :namespace, 'exists', 'true') ON CONFLICT DO NOTHING"
)


@dataclass(frozen=True)
class Swap:
    """Replaces a table's metadata file, and possibly its name."""

    table: TableName
    old: str
    new: str
    becomes: TableName | None = None

    def within(self, connection: Connection) -> None:
        """`PointerMoved` if the pointer is not the expected one."""
        namespace, name = key(self.becomes or self.table)
        values = {"metadata_location": self.new, "table_namespace": namespace, "table_name": name}
        if self.new != self.old:
            values["previous_metadata_location"] = self.old
        swapped = connection.execute(
            update(iceberg_tables)
            .where(*_is(self.table), _T.metadata_location == self.old)
            .values(**values)
        )
        if swapped.rowcount != 1:
            raise PointerMoved(str(self.table))


def location_of(connection: Connection, table: TableName) -> str | None:
    """A table's metadata file; until the transaction ends, nobody can change it."""
    return connection.execute(
        select(_T.metadata_location).where(*_is(table)).with_for_update()
    ).scalar()


def add(connection: Connection, table: TableName, location: str) -> None:
    """Add a table; `IntegrityError` if the name is taken."""
    namespace, name = key(table)
    values = {
        "catalog_name": CATALOG,
        "table_namespace": namespace,
        "table_name": name,
        "iceberg_type": "TABLE",
    }
    connection.execute(insert(iceberg_tables).values(**values, metadata_location=location))


def add_namespace(connection: Connection, name: str) -> None:
    """Add a namespace if it does not exist; others may add it at the same time."""
    connection.execute(_NAMESPACE, {"catalog": CATALOG, "namespace": name})


def remove(connection: Connection, table: TableName, *, location: str) -> bool:
    """Remove a table's row if its metadata file is still this one; returns whether it was."""
    there = (*_is(table), _T.metadata_location == location)
    return connection.execute(delete(iceberg_tables).where(*there)).rowcount == 1


def lies_below(connection: Connection, folder: str) -> bool:
    """Whether a table, view or dropped table has its metadata below a folder, however the root is
    spelt.
    """
    inside = f"/{folder}/"
    found = (
        exists().where(at.contains(inside, autoescape=True))
        for at in (_T.metadata_location, dropped.c.metadata_location)
    )
    return any(connection.execute(select(one)).scalar() for one in found)


def _is(table: TableName) -> tuple[ColumnElement[bool], ...]:
    namespace, name = key(table)
    return (_T.catalog_name == CATALOG, _T.table_namespace == namespace, _T.table_name == name)


def key(table: TableName) -> tuple[str, str]:
    """The two columns that name a table."""
    *namespace, name = table.levels
    return (".".join(namespace), name)


@lru_cache(maxsize=100_000)  # all rows are read again and again
def name_of(namespace: str, name: str) -> TableName | None:
    """The table's name; None if it is not in our three parts."""
    first, _, layer = namespace.partition(".")
    try:
        return TableName(first, layer, name)
    except BadName:
        return None
