"""Changes of a table on a REST catalog, together with their records in the database beside it.

A change is recorded first, then the server is asked, then its records are stored. One that a crash
divided from its records is settled by whoever changes a table next.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from lakebed.engines.database import Database, fence
from lakebed.engines.database.state.commit_records import put_change_records
from lakebed.engines.database.state.intended_changes import (
    IntendedAmendments,
    IntendedChange,
    IntendedRename,
    abandoned_changes,
    finish_intended,
    forget_intended,
    put_intended,
)
from lakebed.engines.iceberg.catalog.rest_tables import RestTables
from lakebed.errors import PointerMoved
from lakebed.names import TableName, new_run_id
from lakebed.ports import (
    NO_CHANGE_RECORDS,
    Amendment,
    ChangeRecords,
    Lease,
    Pointer,
    UnsettledChange,
)


class RestChanges(RestTables):
    """The tables of a REST server, with Lakebed's state in a database."""

    def __init__(self, database: Database, *, where: str, properties: Mapping[str, str]) -> None:
        super().__init__(where=where, properties=properties)
        self._database = database

    def amend(
        self,
        table: TableName,
        amendments: Sequence[Amendment],
        *,
        expected: Pointer | None = None,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        from lakebed.engines.iceberg.metadata.staging import requirements_of, updates_for

        self.settle_changes(leases)
        with self._answering():
            found = self._load(table)
        if found is None:
            return
        if expected and found.metadata_location != expected.location:
            raise PointerMoved(str(table))
        updates = updates_for(amendments, found.metadata)
        if not updates:
            self._write_records(records, leases)
            return
        change = IntendedAmendments(found.metadata_location, tuple(amendments))
        uuid = str(found.metadata.table_uuid)
        intended = IntendedChange(new_run_id(), table, uuid, change, records)
        with self._database.writing() as connection:
            self._intend(connection, intended, leases)
        try:
            with self._answering():
                self._commit_to(found, updates, *requirements_of(amendments, found.metadata))
        except PointerMoved:  # the server refused; any other error may have come after its commit
            self._forget(intended)
            raise
        self._finish(intended)

    def settle_changes(self, own: Sequence[Lease] = ()) -> None:
        """With the leases `own`, also what their holder began before and got no answer to."""
        for intended in abandoned_changes(self._database, own=own):
            self._settle(intended)

    def unsettled_changes(self) -> tuple[UnsettledChange, ...]:
        begun = abandoned_changes(self._database)
        return tuple(UnsettledChange(intended.table, str(intended)) for intended in begun)

    def _intend(
        self, connection: Connection, intended: IntendedChange, leases: Sequence[Lease]
    ) -> None:
        fence(connection, *leases)
        put_intended(connection, self._database, intended, leases)

    def _settle(self, intended: IntendedChange) -> bool:
        """Store the records of a change that happened, or forget it; returns whether it did."""
        happened = self._happened(intended)
        (self._finish if happened else self._forget)(intended)
        return happened

    def _happened(self, intended: IntendedChange) -> bool:
        from lakebed.engines.iceberg.metadata.effect import took_effect

        change = intended.change
        if isinstance(change, IntendedRename):
            return self._uuid(change.to) == intended.uuid
        with self._answering():
            found = self._load(intended.table)
        if found is None or str(found.metadata.table_uuid) != intended.uuid:
            return False
        return took_effect(found, change.amendments, since=change.base)

    def _finish(self, intended: IntendedChange) -> None:
        with self._database.writing() as connection:
            finish_intended(connection, self._database, intended)

    def _forget(self, intended: IntendedChange) -> None:
        with self._database.writing() as connection:
            forget_intended(connection, intended)

    def _write_records(self, records: ChangeRecords, leases: Sequence[Lease] = ()) -> None:
        with self._database.writing() as connection:
            fence(connection, *leases)
            put_change_records(connection, self._database, records)

    def _uuid(self, table: TableName) -> str | None:
        with self._answering():
            found = self._load(table)
        return str(found.metadata.table_uuid) if found else None
