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
from lakebed.engines.database.publications import INTENDED, abandoned, forget, mark_published, published, record
from lakebed.engines.iceberg.metadata import read_metadata
from lakebed.errors import BadName, CatalogUnreachable, PointerMoved
from lakebed.names import CATALOG, TableName
from lakebed.ports import NOTHING_ALONG, Along, Lease, Pointer, Publication, RefMove, TableMetadata

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog as IcebergCatalog
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
    from pyiceberg.table.update import TableUpdate
    from pyiceberg.typedef import Identifier

    Updates = Callable[[RefMove, IcebergMetadata], tuple[TableUpdate, ...]]


class RestTables:
    """Tables of a REST catalog. Atomic a table; across tables made whole by `settle`."""

    atomic = False

    def __init__(self, database: Database, *, where: str, properties: Mapping[str, str]) -> None:
        self._database, self._properties, self.where = database, properties, where
        self._read: dict[str, TableMetadata] = {}

    @cached_property
    def _catalog(self) -> "IcebergCatalog":
        from pyiceberg.catalog import load_catalog

        return load_catalog(CATALOG, **self._properties)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        from pyiceberg.exceptions import OAuthError, RESTError
        from requests.exceptions import RequestException

        try:
            yield
        except (RequestException, RESTError, OAuthError) as error:
            raise CatalogUnreachable(self.where, str(error).splitlines()[0]) from error

    def pointers(self, tables: Collection[TableName] | None = None) -> dict[TableName, Pointer]:
        with self._answering():
            found = {table: loaded for table in (self._all() if tables is None else tables) if (loaded := self._load(table))}
        self._read = {
            table.metadata_location: read_metadata(table.metadata.model_dump(by_alias=True)) for table in found.values()
        }
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
        missing = [pointer.table for pointer in pointers if pointer.location not in self._read]
        if missing:  # the catalog answers with the metadata itself, so a pointer costs no second request
            self.pointers([pointer.table for pointer in pointers])
        return {pointer.table: self._read[pointer.location] for pointer in pointers if pointer.location in self._read}

    def create_namespace(self, namespace: str, layer: str) -> None:
        with self._answering():
            for name in ((namespace,), (namespace, layer)):
                self._catalog.create_namespace_if_not_exists(name)

    def swap(
        self,
        publication: Publication,
        *,
        seen: Mapping[TableName, Pointer],
        leases: Sequence[Lease] = (),
        along: Along = NOTHING_ALONG,
    ) -> None:
        """As the port says, save that the tables move one by one; `seen` is not needed, for every move names its base.

        A table that moved meanwhile leaves the intent as it is: settling decides what becomes of it, here as after a crash.
        """
        del seen
        self._intend(publication, leases, along)
        for move in publication.moves:
            self._move(move)
        self._close(publication, whole=True)

    def _intend(self, publication: Publication, leases: Sequence[Lease], along: Along) -> None:
        try:
            with self._database.writing() as connection:
                for lease in leases:
                    fence(connection, lease)
                record(connection, self._database, publication, state=INTENDED, leases=leases, along=along)
        except IntegrityError as error:  # a twin of this run is at it, or a crash left the intent
            raise PointerMoved(publication.run_id) from error

    def _move(self, move: RefMove) -> None:
        from lakebed.engines.iceberg.staging import moves_forward

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

    def tidy(self, table: TableName, *, branches: Collection[str], schema: int | None, leases: Sequence[Lease] = ()) -> None:
        from pyiceberg.exceptions import CommitFailedException
        from pyiceberg.table.update import AssertTableUUID

        from lakebed.engines.iceberg.staging import tidied

        with self._answering():
            found = self._load(table)
            updates = tidied(branches, schema, found.metadata) if found else ()
            if found is None or not updates:
                return
            try:
                self._catalog.commit_table(found, (AssertTableUUID(uuid=found.metadata.table_uuid),), updates)
            except CommitFailedException as error:
                raise PointerMoved(str(table)) from error

    def drop(self, table: TableName) -> None:
        from pyiceberg.exceptions import NoSuchTableError

        with self._answering(), suppress(NoSuchTableError):
            self._catalog.purge_table(table.parts)

    def newest_value(self, table: TableName, *, snapshot: int, column: str) -> Any:
        from lakebed.engines.iceberg.newest import newest_value

        return newest_value(self.pointers([table])[table].location, snapshot=snapshot, column=column, properties=self._properties)

    def _commit(self, move: RefMove, updates: "Updates", *, present: int | None) -> None:
        """One table's commit, on condition that the ref still stands at `present`; nothing to change is no commit."""
        from pyiceberg.exceptions import CommitFailedException
        from pyiceberg.table.update import AssertRefSnapshotId, AssertTableUUID

        with self._answering():
            table = self._load(move.table)
            if table is None:
                raise PointerMoved(str(move.table))
            uuid = AssertTableUUID(uuid=table.metadata.table_uuid)
            ref = AssertRefSnapshotId(ref=move.ref, snapshot_id=present)
            wanted = updates(move, table.metadata)
            if not wanted:
                return
            try:
                self._catalog.commit_table(table, (uuid, ref), wanted)
            except CommitFailedException as error:
                raise PointerMoved(str(move.table)) from error

    def _close(self, publication: Publication, *, whole: bool) -> None:
        with self._database.writing() as connection:
            (mark_published if whole else forget)(connection, publication)

    def published(self, run_id: str) -> Publication | None:
        return published(self._database, run_id)

    def unsettled(self, *, own: str | None = None) -> tuple[Publication, ...]:
        return abandoned(self._database, own=own)

    def settle(self, publication: Publication, *, complete: Sequence[RefMove], undo: Sequence[RefMove], whole: bool) -> None:
        from lakebed.engines.iceberg.staging import moves_back

        for move in complete:
            self._move(move)
        for move in undo:
            if move.becomes:
                self._rename(move.becomes, move.table)
            self._commit(move, moves_back, present=move.to)
        self._close(publication, whole=whole)
