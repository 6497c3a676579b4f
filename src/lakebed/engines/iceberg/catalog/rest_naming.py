"""New names for the tables of a REST catalog: renames, drops and restores.

The server renames a table; the ledger and the events are in the database beside it. Each rename is
therefore recorded first, and one that a crash divided is settled by whoever changes a table next.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from lakebed.engines.database import Database, fence
from lakebed.engines.database.state.dropped import delete_dropped_row, list_dropped, put_dropped
from lakebed.engines.database.state.ledger import delete_from_ledger
from lakebed.engines.database.state.renaming import (
    IntendedRename,
    abandoned_renames,
    finish_rename,
    forget_rename,
    put_rename,
)
from lakebed.engines.iceberg.catalog.rest_tables import RestTables
from lakebed.errors import PointerMoved
from lakebed.names import TableName, new_run_id
from lakebed.ports import NO_CHANGE_RECORDS, ChangeRecords, DroppedTable, Lease


class RestNaming(RestTables):
    """Tables of a REST catalog under new names, with Lakebed's state in a database."""

    def __init__(self, database: Database, *, where: str, properties: Mapping[str, str]) -> None:
        super().__init__(where=where, properties=properties)
        self._database = database

    def rename(
        self,
        table: TableName,
        to: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        uuid = self._uuid(table)
        if uuid is None:
            raise PointerMoved(str(table))
        self.create_namespace(to.namespace, to.layer)
        intended = IntendedRename(new_run_id(), table, to, uuid, records=records)
        with self._database.writing() as connection:
            self._intend_rename(connection, intended, leases)
        self._make(intended)

    def drop(
        self,
        table: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> DroppedTable | None:
        """The table gets a hidden name: some servers remove a table's files when it is dropped,
        even if told not to.

        The row is written first; without the hidden table it has no effect.
        """
        with self._answering():
            found = self._load(table)
        if found is None:
            return None
        uuid, location = str(found.metadata.table_uuid), found.metadata_location
        with self._database.writing() as connection:
            delete_dropped_row(connection, uuid)
            gone = put_dropped(connection, self._database, table, uuid=uuid, location=location)
            intended = IntendedRename(
                new_run_id(), table, gone.hidden_name, uuid, drops=True, records=records
            )
            self._intend_rename(connection, intended, leases)
        self._make(intended)
        return gone

    def dropped(self) -> tuple[DroppedTable, ...]:
        known = list_dropped(self._database)
        there = self.pointers([gone.hidden_name for gone in known])
        return tuple(gone for gone in known if gone.hidden_name in there)

    def restore(
        self,
        dropped: DroppedTable,
        to: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        self.create_namespace(to.namespace, to.layer)
        intended = IntendedRename(
            new_run_id(), dropped.hidden_name, to, dropped.uuid, records=records
        )
        with self._database.writing() as connection:
            self._intend_rename(connection, intended, leases)
        self._make(intended)

    def delete_dropped(self, dropped: DroppedTable) -> None:
        self.purge(dropped.hidden_name)
        with self._database.writing() as connection:
            delete_dropped_row(connection, dropped.uuid)
            delete_from_ledger(connection, dropped.hidden_name)

    def settle_renames(self) -> None:
        for intended in abandoned_renames(self._database):
            self._settle_rename(intended)

    def _intend_rename(
        self, connection: Connection, intended: IntendedRename, leases: Sequence[Lease]
    ) -> None:
        for lease in sorted(leases, key=lambda lease: lease.name):
            fence(connection, lease)
        put_rename(connection, self._database, intended, leases)

    def _make(self, intended: IntendedRename) -> None:
        """If the answer is lost, the intent stays, and settling finds out what happened."""
        try:
            self._rename(intended.table, intended.to)
        except PointerMoved:
            if not self._settle_rename(intended):
                raise
        else:
            with self._database.writing() as connection:
                finish_rename(connection, self._database, intended)

    def _settle_rename(self, intended: IntendedRename) -> bool:
        """Finish the records of a rename that happened, or forget it; returns whether it did."""
        happened = self._uuid(intended.to) == intended.uuid
        with self._database.writing() as connection:
            if happened:
                finish_rename(connection, self._database, intended)
            else:
                forget_rename(connection, intended)
        return happened

    def _uuid(self, table: TableName) -> str | None:
        with self._answering():
            found = self._load(table)
        return str(found.metadata.table_uuid) if found else None
