"""Every row that contains the address of a metadata file: tables, views and dropped tables."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select, update

from lakebed.engines.database import Database, fence
from lakebed.engines.database.schema import dropped, iceberg_tables
from lakebed.engines.database.state.commit_records import put_change_records
from lakebed.engines.iceberg.catalog.jdbc_rows import name_of
from lakebed.errors import PointerMoved
from lakebed.names import CATALOG, TableName
from lakebed.ports import (
    NO_CHANGE_RECORDS,
    ChangeRecords,
    Lease,
    PointerChange,
    PointerRow,
    RefMove,
)

_T = iceberg_tables.c
_VIEW = "VIEW"


class DatabasePointerRows:
    """Pointers of a catalog in the lake's own database."""

    def __init__(self, database: Database, *, file_properties: Mapping[str, str]) -> None:
        self._database, self._file_properties = database, file_properties

    def rows(self) -> tuple[PointerRow, ...]:
        query = select(iceberg_tables).where(
            _T.catalog_name == CATALOG, _T.metadata_location.is_not(None)
        )
        with self._database.reading() as connection:
            present = connection.execute(query.order_by(_T.table_namespace, _T.table_name)).all()
            gone = connection.execute(
                select(dropped).order_by(dropped.c.table_name, dropped.c.uuid)
            ).all()
        return (
            *(
                PointerRow(
                    "view" if row.iceberg_type == _VIEW else "table",
                    f"{row.table_namespace}.{row.table_name}",
                    name_of(row.table_namespace, row.table_name),
                    row.metadata_location,
                    f"{row.table_namespace}\n{row.table_name}",
                    row.previous_metadata_location,
                )
                for row in present
            ),
            *(
                PointerRow(
                    "dropped",
                    row.table_name,
                    TableName.parse(row.table_name),
                    row.metadata_location,
                    row.uuid,
                )
                for row in gone
            ),
        )

    def stage(self, location: str, move: RefMove) -> str:
        from lakebed.engines.iceberg.metadata.staging import stage_move

        now = self._database.time()
        return stage_move(location, move, properties=self._file_properties, now=now)

    def change(
        self,
        moves: Sequence[PointerChange],
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        with self._database.writing() as connection:
            fence(connection, *leases)
            for move in sorted(moves, key=lambda move: (move.row.kind, move.row.key)):
                _repoint(connection, move)
            put_change_records(connection, self._database, records)


def _repoint(connection: Connection, move: PointerChange) -> None:
    row = move.row
    if row.kind == "dropped":
        there = (dropped.c.uuid == row.key, dropped.c.metadata_location == row.location)
        done = connection.execute(update(dropped).where(*there).values(metadata_location=move.to))
    else:
        namespace, _, name = row.key.partition("\n")
        same = (_T.catalog_name == CATALOG, _T.table_namespace == namespace, _T.table_name == name)
        values = {"metadata_location": move.to, "previous_metadata_location": row.location}
        done = connection.execute(
            update(iceberg_tables)
            .where(*same, _T.metadata_location == row.location)
            .values(**values)
        )
    if done.rowcount != 1:
        raise PointerMoved(row.name)
