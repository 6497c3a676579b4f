"""New names for the tables of a REST catalog: renames, drops and restores.

The server renames a table; the ledger and the events are in the database beside it.
"""

from collections.abc import Sequence

from lakebed.engines.database.state.intended_changes import IntendedChange, IntendedRename
from lakebed.engines.database.state.ledger import delete_from_ledger
from lakebed.engines.database.state.naming import delete_dropped_row, list_dropped, put_dropped
from lakebed.engines.iceberg.catalog.rest_changes import RestChanges
from lakebed.errors import PointerMoved
from lakebed.names import TableName, new_run_id
from lakebed.ports import NO_CHANGE_RECORDS, ChangeRecords, DroppedTable, Lease


class RestNaming(RestChanges):
    """Tables of a REST catalog under new names."""

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
        intended = IntendedChange(new_run_id(), table, uuid, IntendedRename(to), records)
        with self._database.writing() as connection:
            self._intend(connection, intended, leases)
        self._make(intended, to)

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
            change = IntendedRename(gone.hidden_name, drops=True)
            intended = IntendedChange(new_run_id(), table, uuid, change, records)
            self._intend(connection, intended, leases)
        self._make(intended, gone.hidden_name)
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
        intended = IntendedChange(
            new_run_id(), dropped.hidden_name, dropped.uuid, IntendedRename(to), records
        )
        with self._database.writing() as connection:
            self._intend(connection, intended, leases)
        self._make(intended, to)

    def delete_dropped(self, dropped: DroppedTable) -> None:
        self.purge(dropped.hidden_name)
        with self._database.writing() as connection:
            delete_dropped_row(connection, dropped.uuid)
            delete_from_ledger(connection, dropped)

    def _make(self, intended: IntendedChange, to: TableName) -> None:
        """If the answer is lost, the intent stays, and settling finds out what happened."""
        try:
            self._rename(intended.table, to)
        except PointerMoved:
            if not self._settle(intended):
                raise
        else:
            self._finish(intended)
