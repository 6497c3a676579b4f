"""What a REST catalog contains besides our own tables: files are removed only if none of it needs
them.
"""

from collections.abc import Collection, Iterator

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import (
    BadRequestError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    RESTError,
)
from pyiceberg.typedef import Identifier

from lakebed.engines.iceberg.metadata.parsing import read_view
from lakebed.errors import BadName
from lakebed.names import ForeignName, TableName
from lakebed.ports import ForeignTable, ViewMetadata


def our_name(parts: Identifier) -> TableName | None:
    """The name of a table or view; None if it is not in our three parts."""
    try:
        return TableName(*parts) if len(parts) == 3 else None
    except BadName:
        return None


def namespaces(catalog: Catalog) -> set[Identifier]:
    """All namespaces, at any depth. Some servers list all of them again below each one."""
    known: set[Identifier] = set()
    unasked: list[Identifier] = [()]
    while unasked:
        fresh = set(catalog.list_namespaces(unasked.pop())) - known
        known |= fresh
        unasked += fresh
    return known


def foreign_tables(
    catalog: Catalog, named: Collection[str] | None = None
) -> Iterator[ForeignTable]:
    """Tables and views whose names are not in our three parts; with `named`, those with one of
    these last names.

    One that disappears meanwhile is left out.
    """
    for namespace in sorted(namespaces(catalog)):
        for parts in _tables_in(catalog, namespace):
            if _is_foreign(parts, named) and (location := _location(catalog, parts)):
                yield ForeignTable("table", ".".join(parts), location, ForeignName.of(parts))
        for parts, location in views_in(catalog, namespace):
            if _is_foreign(parts, named):
                yield ForeignTable("view", ".".join(parts), location, ForeignName.of(parts))


def _is_foreign(parts: Identifier, named: Collection[str] | None) -> bool:
    return our_name(parts) is None and (
        named is None or parts[-1].casefold() in {name.casefold() for name in named}
    )


def _tables_in(catalog: Catalog, namespace: Identifier) -> list[Identifier]:
    try:
        return catalog.list_tables(namespace)
    except NoSuchNamespaceError:
        return []


def _location(catalog: Catalog, parts: Identifier) -> str | None:
    try:
        return catalog.load_table(parts).metadata_location
    except NoSuchTableError:
        return None


def views_in(catalog: Catalog, namespace: Identifier) -> list[tuple[Identifier, str]]:
    """The views of a namespace and their locations; empty if the server does not support views."""
    try:
        names = catalog.list_views(namespace)
    except (NotImplementedError, NoSuchNamespaceError):
        return []
    except RESTError as error:
        _refuse_failures(error)
        return []
    placed = ((parts, _view_place(catalog, parts)) for parts in names)
    return [(parts, place) for parts, place in placed if place]


def _view_place(catalog: Catalog, parts: Identifier) -> str | None:
    try:
        return f"{catalog.load_view(parts).metadata.location}/metadata"
    except NoSuchViewError:
        return None


def view_of(catalog: Catalog, view: TableName) -> ViewMetadata | None:
    """A view's definition; None if it does not exist or the server does not support views."""
    try:
        found = catalog.load_view(view.levels)
    except (NoSuchViewError, NotImplementedError):
        return None
    except RESTError as error:
        _refuse_failures(error)
        return None
    return read_view(found.metadata.model_dump(by_alias=True))


def drop_view(catalog: Catalog, view: TableName) -> bool:
    """Drop a view; returns whether it existed."""
    try:
        catalog.drop_view(view.levels)
    except (NoSuchViewError, NotImplementedError):
        return False
    except RESTError as error:
        _refuse_failures(error)
        return False
    return True


def _refuse_failures(error: RESTError) -> None:
    """Raise the error unless it only means that the server does not support views."""
    if type(error) not in (RESTError, BadRequestError):
        raise error
