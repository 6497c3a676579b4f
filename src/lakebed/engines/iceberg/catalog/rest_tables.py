"""The tables of an Iceberg REST catalog: read, and changed one at a time."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakebed.engines.iceberg.catalog.loaded_metadata import LoadedMetadata, fetched
from lakebed.engines.iceberg.metadata.parsing import read_metadata
from lakebed.errors import (
    BadName,
    CatalogLoginRefused,
    CatalogUnreachable,
    LoginFault,
    PointerMoved,
    TableDropped,
)
from lakebed.names import CATALOG, TableName, tables_named
from lakebed.ports import ADOPTED_FROM, ForeignTable, Pointer, RefMove, TableMetadata, ViewMetadata

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog as IcebergCatalog
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
    from pyiceberg.table.update import TableRequirement, TableUpdate
    from pyiceberg.typedef import Identifier

    Updates = Callable[[RefMove, IcebergMetadata], tuple[TableUpdate, ...]]


class RestTables:
    """What a REST server offers by itself, without Lakebed's state beside it."""

    def __init__(self, *, where: str, properties: Mapping[str, str]) -> None:
        self._properties, self.where = properties, where
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
            said, fault = str(error).splitlines()[0], _fault(error)
            if fault:
                raise CatalogLoginRefused(self.where, said, fault=fault) from error
            raise CatalogUnreachable(self.where, said) from error

    def pointers(
        self, tables: Collection[TableName] | None = None, *, named: Collection[str] | None = None
    ) -> dict[TableName, Pointer]:
        with self._answering():
            wanted = tables_named(self._all() if tables is None else tables, named)
            found = {table: loaded for table in wanted if (loaded := self._load(table))}
        self._looked_at.keep(
            {
                table.metadata_location: read_metadata(table.metadata.model_dump(by_alias=True))
                for table in found.values()
            }
        )
        return {name: Pointer(name, table.metadata_location) for name, table in found.items()}

    def _all(self) -> Iterator[TableName]:
        for namespace, layer in sorted(self._layers()):
            for *_, name in self._catalog.list_tables((namespace, layer)):
                try:
                    yield TableName(namespace, layer, name)
                except BadName:  # created by another tool, outside our three-part names
                    continue

    def _layers(self) -> "set[Identifier]":
        """Namespaces of two parts.

        Some servers list nested ones at the top, others only below their parents.
        """
        top = self._catalog.list_namespaces()
        below = (
            inner
            for outer in top
            if len(outer) == 1
            for inner in self._catalog.list_namespaces(outer)
        )
        return {namespace for namespace in (*top, *below) if len(namespace) == 2}

    def _load(self, table: TableName) -> "Table | None":
        from pyiceberg.exceptions import NoSuchTableError

        try:
            return self._catalog.load_table(table.parts)
        except NoSuchTableError:
            return None

    def metadata(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        """The server returned the metadata with the pointer, so this needs no request; other
        pointers are read.
        """
        return {
            pointer.table: self._looked_at.get(pointer.location)
            or fetched(pointer, self._properties)
            for pointer in pointers
        }

    def views(self) -> dict[TableName, str]:
        """Empty if the server does not support views."""
        from lakebed.engines.iceberg.catalog.rest_listing import our_name, views_in

        with self._answering():
            found = [
                view for layer in sorted(self._layers()) for view in views_in(self._catalog, layer)
            ]
        return {name: location for parts, location in found if (name := our_name(parts))}

    def view(self, view: TableName) -> ViewMetadata | None:
        from lakebed.engines.iceberg.catalog.rest_listing import view_of

        with self._answering():
            return view_of(self._catalog, view)

    def foreign(self, *, named: Collection[str] | None = None) -> tuple[ForeignTable, ...]:
        from lakebed.engines.iceberg.catalog.rest_listing import foreign_tables

        with self._answering():
            return tuple(foreign_tables(self._catalog, named))

    def create_namespace(self, namespace: str, layer: str) -> None:
        with self._answering():
            for name in ((namespace,), (namespace, layer)):
                self._catalog.create_namespace_if_not_exists(name)

    def newest_value(self, table: TableName, *, snapshot: int, column: str) -> Any:
        from lakebed.engines.iceberg.scan.newest_value import newest_value

        pointer = self.pointers([table]).get(table)
        if pointer is None:
            raise TableDropped(str(table))
        return newest_value(
            pointer.location, snapshot=snapshot, column=column, properties=self._properties
        )

    def _commit(self, move: RefMove, updates: "Updates", *, present: int | None) -> None:
        """Commit to one table if the ref still points at `present`; without changes, nothing is
        sent.
        """
        from pyiceberg.table.update import (
            AssertCurrentSchemaId,
            AssertRefSnapshotId,
            SetCurrentSchemaUpdate,
        )

        with self._answering():
            table = self._load(move.table)
            if table is None:
                raise PointerMoved(str(move.table))
            wanted = updates(move, table.metadata)
            reshapes = any(isinstance(update, SetCurrentSchemaUpdate) for update in wanted)
            schema = (
                (AssertCurrentSchemaId(current_schema_id=table.metadata.current_schema_id),)
                if reshapes
                else ()
            )
            self._commit_to(
                table, wanted, AssertRefSnapshotId(ref=move.ref, snapshot_id=present), *schema
            )

    def _commit_to(
        self, table: "Table", updates: "tuple[TableUpdate, ...]", *conditions: "TableRequirement"
    ) -> None:
        from pyiceberg.exceptions import CommitFailedException
        from pyiceberg.table.update import AssertTableUUID

        if not updates:
            return
        try:
            self._catalog.commit_table(
                table, (AssertTableUUID(uuid=table.metadata.table_uuid), *conditions), updates
            )
        except CommitFailedException as error:
            raise PointerMoved(".".join(table.name())) from error

    def _rename(self, table: TableName, to: TableName) -> None:
        from pyiceberg.exceptions import NoSuchTableError, TableAlreadyExistsError

        with self._answering():
            try:
                self._catalog.rename_table(table.parts, to.parts)
            except (NoSuchTableError, TableAlreadyExistsError) as error:
                raise PointerMoved(str(to)) from error

    def drop_view(self, view: TableName) -> bool:
        from lakebed.engines.iceberg.catalog.rest_listing import drop_view

        with self._answering():
            return drop_view(self._catalog, view)

    def purge(self, table: TableName) -> None:
        """An adopted table is only dropped: the server would remove files that are not its own."""
        from pyiceberg.exceptions import NoSuchTableError

        with self._answering(), suppress(NoSuchTableError):
            found = self._load(table)
            if found and found.metadata.properties.get(ADOPTED_FROM):
                self._catalog.drop_table(table.parts)
            elif found:
                self._catalog.purge_table(table.parts)


def _fault(error: Exception) -> LoginFault | None:
    """What is wrong with our access; None if the server may answer a later request."""
    from pyiceberg.exceptions import ForbiddenError, OAuthError, UnauthorizedError

    if isinstance(error, UnauthorizedError | ForbiddenError | OAuthError):
        return "credential"
    return "trust" if "CERTIFICATE_VERIFY_FAILED" in str(error) else None
