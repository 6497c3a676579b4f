"""An Iceberg REST catalog, with Lakebed's state in a database beside it.

The server commits one table at a time. A publication of several is first recorded as an intent, so
that after a crash the next publisher can complete or revert it, by its run id. Other changes are
recorded first, too, so that their records are not lost (`rest_changes`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy.exc import IntegrityError

from lakebed.engines.database import fence
from lakebed.engines.database.state.naming import rename_in_state
from lakebed.engines.database.state.publications import (
    INTENDED,
    abandoned,
    delete_intended,
    delete_publications,
    mark_published,
    oldest_publication,
    published,
    record,
)
from lakebed.engines.iceberg.catalog.rest_naming import RestNaming
from lakebed.errors import PointerMoved, UsageError
from lakebed.names import TableName
from lakebed.ports import (
    NO_CHANGE_RECORDS,
    NO_PUBLICATION_RECORDS,
    ChangeRecords,
    Lease,
    Pointer,
    Publication,
    PublicationRecords,
    RefMove,
)


class IcebergRestCatalog(RestNaming):
    """Commits are atomic for one table; a publication of several is completed by `settle`."""

    atomic = False
    owns_files = True

    def commit(
        self,
        publication: Publication,
        *,
        expected: Mapping[TableName, Pointer],
        leases: Sequence[Lease] = (),
        records: PublicationRecords = NO_PUBLICATION_RECORDS,
    ) -> None:
        """The tables move one after the other; `expected` is not needed, since every move names its
        base.

        If a table has moved meanwhile, the intent stays: settling decides what becomes of it, as
        after a crash.
        """
        del expected
        self._intend_publication(publication, leases, records)
        for move in publication.moves:
            self._move(move)
        self._close(publication, whole=True)

    def _intend_publication(
        self, publication: Publication, leases: Sequence[Lease], records: PublicationRecords
    ) -> None:
        try:
            with self._database.writing() as connection:
                fence(connection, *leases)
                record(
                    connection,
                    self._database,
                    publication,
                    state=INTENDED,
                    leases=leases,
                    records=records,
                )
        except IntegrityError as error:  # a twin of this run is at it, or a crash left the intent
            raise PointerMoved(publication.run_id) from error

    def _move(self, move: RefMove) -> None:
        from lakebed.engines.iceberg.metadata.staging import moves_forward

        present = move.to if move.becomes and move.branch == move.ref else move.base
        self._commit(move, moves_forward, present=present)
        if move.becomes:
            self._rename(move.table, move.becomes)

    def register(
        self, table: TableName, location: str, *, records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        from pyiceberg.exceptions import TableAlreadyExistsError

        self.create_namespace(table.namespace, table.layer)
        with self._answering():
            try:
                self._catalog.register_table(table.parts, location)
            except TableAlreadyExistsError as error:
                raise PointerMoved(str(table)) from error
            except NotImplementedError as error:
                what = "this REST catalog cannot register a table by its metadata file."
                raise UsageError(
                    what, next="Use a catalog that can: restore, clone and rebuild need it."
                ) from error
        self._write_records(records)

    def clone(
        self,
        pointer: Pointer,
        to: TableName,
        *,
        snapshot: int,
        location: str | None,
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        what = "a REST catalog owns its tables' files, so two of its tables cannot share them."
        raise UsageError(
            what,
            where=str(to),
            next="Work on a branch of the table instead: lakebed table clone --branch NAME",
        )

    def _close(self, publication: Publication, *, whole: bool) -> None:
        with self._database.writing() as connection:
            for move in publication.moves if whole else ():
                if move.becomes:
                    rename_in_state(connection, move.table, move.becomes)
            (mark_published if whole else delete_intended)(connection, self._database, publication)

    def published(self, run_id: str) -> Publication | None:
        return published(self._database, run_id)

    def oldest_publication(self) -> datetime | None:
        return oldest_publication(self._database)

    def delete_publications(self, *, before: datetime) -> int:
        return delete_publications(self._database, before=before)

    def unsettled(self, *, own: str | None = None) -> tuple[Publication, ...]:
        return abandoned(self._database, own=own)

    def settle(
        self,
        publication: Publication,
        *,
        complete: Sequence[RefMove],
        undo: Sequence[RefMove],
        whole: bool,
    ) -> None:
        from lakebed.engines.iceberg.metadata.staging import moves_back

        for move in complete:
            self._move(move)
        for move in undo:
            if move.becomes:
                self._rename(move.becomes, move.table)
            self._commit(move, moves_back, present=move.to)
        self._close(publication, whole=whole)
