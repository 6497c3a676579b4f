"""An Iceberg REST catalog, with Lakebed's state in a database beside it.

The catalog commits one table at a time. A publication of several is written down as an intent first, so that after a
crash the next publisher can finish it, or take it back, by its run id.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import IntegrityError

from lakebed.engines.database import Database, fence
from lakebed.engines.database.state.commit_records import put_change_records
from lakebed.engines.database.state.dropped import forget_dropped, list_dropped, put_dropped
from lakebed.engines.database.state.ledger import delete_from_ledger, rename_in_ledger
from lakebed.engines.database.state.publications import INTENDED, abandoned, forget, mark_published, published, record
from lakebed.engines.iceberg.catalog.loaded_metadata import LoadedMetadata, fetched
from lakebed.engines.iceberg.metadata.parsing import read_metadata
from lakebed.errors import BadName, CatalogUnreachable, PointerMoved, UsageError
from lakebed.names import CATALOG, TableName, tables_named
from lakebed.ports import (
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
    TableMetadata,
    ViewMetadata,
)

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog as IcebergCatalog
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
    from pyiceberg.table.update import TableRequirement, TableUpdate
    from pyiceberg.typedef import Identifier

    Updates = Callable[[RefMove, IcebergMetadata], tuple[TableUpdate, ...]]


class RestTables:
    """Tables of a REST catalog. Atomic a table; across tables made whole by `settle`."""

    atomic = False
    owns_files = True

    def __init__(self, database: Database, *, where: str, properties: Mapping[str, str]) -> None:
        self._database, self._properties, self.where = database, properties, where
        self._looked_at = LoadedMetadata()

    @cached_property
    def _catalog(self) -> "IcebergCatalog":
        from lakebed.engines.iceberg.catalog.rest_client import LimitedRest

        return LimitedRest(CATALOG, **self._properties)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        from pyiceberg.exceptions import OAuthError, RESTError
        from requests.exceptions import RequestException

        try:
            yield
        except (RequestException, RESTError, OAuthError) as error:
            raise CatalogUnreachable(self.where, str(error).splitlines()[0]) from error

    def pointers(
        self, tables: Collection[TableName] | None = None, *, named: Collection[str] | None = None
    ) -> dict[TableName, Pointer]:
        with self._answering():
            wanted = tables_named(self._all() if tables is None else tables, named)
            found = {table: loaded for table in wanted if (loaded := self._load(table))}
        self._looked_at.keep(
            {table.metadata_location: read_metadata(table.metadata.model_dump(by_alias=True)) for table in found.values()}
        )
        return {name: Pointer(name, table.metadata_location) for name, table in found.items()}

    def _all(self) -> Iterator[TableName]:
        for namespace, layer in sorted(self._layers()):
            for *_, name in self._catalog.list_tables((namespace, layer)):
                try:
                    yield TableName(namespace, layer, name)
                except BadName:  # made by somebody else, outside our three parts
                    continue

    def _layers(self) -> "set[Identifier]":
        """Namespaces of two parts. Some servers list nested ones at the top, others below their parents only."""
        top = self._catalog.list_namespaces()
        below = (inner for outer in top if len(outer) == 1 for inner in self._catalog.list_namespaces(outer))
        return {namespace for namespace in (*top, *below) if len(namespace) == 2}

    def _load(self, table: TableName) -> "Table | None":
        from pyiceberg.exceptions import NoSuchTableError

        try:
            return self._catalog.load_table(table.parts)
        except NoSuchTableError:
            return None

    def metadata(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        """The catalog answers with the metadata itself, so a pointer costs no second request; one from elsewhere is read."""
        return {
            pointer.table: self._looked_at.get(pointer.location) or fetched(pointer, self._properties) for pointer in pointers
        }

    def views(self) -> dict[TableName, str]:
        """None where the server knows no views."""
        from lakebed.engines.iceberg.catalog.rest_listing import our_name, views_in

        with self._answering():
            found = [view for layer in sorted(self._layers()) for view in views_in(self._catalog, layer)]
        return {name: location for parts, location in found if (name := our_name(parts))}

    def view(self, view: TableName) -> ViewMetadata | None:
        from lakebed.engines.iceberg.catalog.rest_listing import view_of

        with self._answering():
            return view_of(self._catalog, view)

    def drop_view(self, view: TableName) -> bool:
        from lakebed.engines.iceberg.catalog.rest_listing import drop_view

        with self._answering():
            return drop_view(self._catalog, view)

    def foreign(self, *, named: Collection[str] | None = None) -> tuple[ForeignTable, ...]:
        from lakebed.engines.iceberg.catalog.rest_listing import foreign_tables

        with self._answering():
            return tuple(foreign_tables(self._catalog, named))

    def create_namespace(self, namespace: str, layer: str) -> None:
        with self._answering():
            for name in ((namespace,), (namespace, layer)):
                self._catalog.create_namespace_if_not_exists(name)

    def commit(
        self,
        publication: Publication,
        *,
        expected: Mapping[TableName, Pointer],
        leases: Sequence[Lease] = (),
        records: PublicationRecords = NO_PUBLICATION_RECORDS,
    ) -> None:
        """As the port says, save that the tables move one by one; `seen` is not needed, for every move names its base.

        A table that moved meanwhile leaves the intent as it is: settling decides what becomes of it, here as after a crash.
        """
        del expected
        self._intend(publication, leases, records)
        for move in publication.moves:
            self._move(move)
        self._close(publication, whole=True)

    def _intend(self, publication: Publication, leases: Sequence[Lease], records: PublicationRecords) -> None:
        try:
            with self._database.writing() as connection:
                for lease in leases:
                    fence(connection, lease)
                record(connection, self._database, publication, state=INTENDED, leases=leases, records=records)
        except IntegrityError as error:  # a twin of this run is at it, or a crash left the intent
            raise PointerMoved(publication.run_id) from error

    def _move(self, move: RefMove) -> None:
        from lakebed.engines.iceberg.metadata.staging import moves_forward

        present = move.to if move.becomes and move.branch == move.ref else move.base
        self._commit(move, moves_forward, present=present)
        if move.becomes:
            self._rename(move.table, move.becomes)

    def _rename(self, table: TableName, to: TableName) -> None:
        from pyiceberg.exceptions import NoSuchTableError, TableAlreadyExistsError

        with self._answering():
            try:
                self._catalog.rename_table(table.parts, to.parts)
            except (NoSuchTableError, TableAlreadyExistsError) as error:
                raise PointerMoved(str(to)) from error

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

        with self._answering():
            found = self._load(table)
            if found is None:
                return
            if expected and found.metadata_location != expected.location:
                raise PointerMoved(str(table))
            self._fence(leases)
            self._commit_to(found, updates_for(amendments, found.metadata), *requirements_of(amendments, found.metadata))
        self._write_records(records)

    def rename(
        self, table: TableName, to: TableName, *, leases: Sequence[Lease] = (), records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        self._fence(leases)
        self.create_namespace(to.namespace, to.layer)
        self._rename(table, to)
        self._write_records(records, renamed=(table, to))

    def drop(
        self, table: TableName, *, leases: Sequence[Lease] = (), records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> DroppedTable | None:
        """Under a hidden name from then on: some servers remove a table's files when it is dropped, even if asked not to.

        The row comes first; without the hidden table it means nothing.
        """
        with self._answering():
            found = self._load(table)
        if found is None:
            return None
        uuid = found.metadata.table_uuid
        self._fence(leases)
        with self._database.writing() as connection:
            forget_dropped(connection, str(uuid))
            gone = put_dropped(connection, self._database, table, uuid=str(uuid), location=found.metadata_location)
        self._rename(table, gone.hidden_name)
        self._write_records(records, renamed=(table, gone.hidden_name))
        return gone

    def dropped(self) -> tuple[DroppedTable, ...]:
        known = list_dropped(self._database)
        there = self.pointers([gone.hidden_name for gone in known])
        return tuple(gone for gone in known if gone.hidden_name in there)

    def restore(self, dropped: DroppedTable, to: TableName, *, records: ChangeRecords = NO_CHANGE_RECORDS) -> None:
        self.create_namespace(to.namespace, to.layer)
        self._rename(dropped.hidden_name, to)
        self._forget(dropped)
        self._write_records(records, renamed=(dropped.hidden_name, to))

    def delete_dropped(self, dropped: DroppedTable) -> None:
        self.purge(dropped.hidden_name)
        self._forget(dropped)
        with self._database.writing() as connection:
            delete_from_ledger(connection, dropped.hidden_name)

    def _forget(self, dropped: DroppedTable) -> None:
        with self._database.writing() as connection:
            forget_dropped(connection, dropped.uuid)

    def register(self, table: TableName, location: str, *, records: ChangeRecords = NO_CHANGE_RECORDS) -> None:
        from pyiceberg.exceptions import TableAlreadyExistsError

        self.create_namespace(table.namespace, table.layer)
        with self._answering():
            try:
                self._catalog.register_table(table.parts, location)
            except TableAlreadyExistsError as error:
                raise PointerMoved(str(table)) from error
            except NotImplementedError as error:
                what = "this REST catalog cannot take up a table by its metadata file."
                raise UsageError(what, next="Restore, clone and rebuild need a catalog that can.") from error
        self._write_records(records)

    def clone(
        self, pointer: Pointer, to: TableName, *, snapshot: int, location: str | None, records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        what = "a REST catalog owns its tables' files, so two of its tables cannot share them."
        raise UsageError(what, where=str(to), next="Work on a branch of the table instead: lakebed table clone --branch NAME")

    def purge(self, table: TableName) -> None:
        from pyiceberg.exceptions import NoSuchTableError

        with self._answering(), suppress(NoSuchTableError):
            self._catalog.purge_table(table.parts)

    def _fence(self, leases: Sequence[Lease]) -> None:
        """As near as a catalog without transactions comes to it: whoever lost a lease is refused just before."""
        with self._database.writing() as connection:
            for lease in leases:
                fence(connection, lease)

    def _write_records(self, records: ChangeRecords, *, renamed: tuple[TableName, TableName] | None = None) -> None:
        with self._database.writing() as connection:
            if renamed:
                rename_in_ledger(connection, *renamed)
            put_change_records(connection, self._database, records)

    def newest_value(self, table: TableName, *, snapshot: int, column: str) -> Any:
        from lakebed.engines.iceberg.scan.newest_value import newest_value

        return newest_value(self.pointers([table])[table].location, snapshot=snapshot, column=column, properties=self._properties)

    def _commit(self, move: RefMove, updates: "Updates", *, present: int | None) -> None:
        """One table's commit, on condition that the ref still stands at `present`; nothing to change is no commit."""
        from pyiceberg.table.update import AssertCurrentSchemaId, AssertRefSnapshotId, SetCurrentSchemaUpdate

        with self._answering():
            table = self._load(move.table)
            if table is None:
                raise PointerMoved(str(move.table))
            wanted = updates(move, table.metadata)
            reshapes = any(isinstance(update, SetCurrentSchemaUpdate) for update in wanted)
            schema = (AssertCurrentSchemaId(current_schema_id=table.metadata.current_schema_id),) if reshapes else ()
            self._commit_to(table, wanted, AssertRefSnapshotId(ref=move.ref, snapshot_id=present), *schema)

    def _commit_to(self, table: "Table", updates: "tuple[TableUpdate, ...]", *conditions: "TableRequirement") -> None:
        from pyiceberg.exceptions import CommitFailedException
        from pyiceberg.table.update import AssertTableUUID

        if not updates:
            return
        try:
            self._catalog.commit_table(table, (AssertTableUUID(uuid=table.metadata.table_uuid), *conditions), updates)
        except CommitFailedException as error:
            raise PointerMoved(".".join(table.name())) from error

    def _close(self, publication: Publication, *, whole: bool) -> None:
        with self._database.writing() as connection:
            (mark_published if whole else forget)(connection, self._database, publication)

    def published(self, run_id: str) -> Publication | None:
        return published(self._database, run_id)

    def unsettled(self, *, own: str | None = None) -> tuple[Publication, ...]:
        return abandoned(self._database, own=own)

    def settle(self, publication: Publication, *, complete: Sequence[RefMove], undo: Sequence[RefMove], whole: bool) -> None:
        from lakebed.engines.iceberg.metadata.staging import moves_back

        for move in complete:
            self._move(move)
        for move in undo:
            if move.becomes:
                self._rename(move.becomes, move.table)
            self._commit(move, moves_back, present=move.to)
        self._close(publication, whole=whole)
