"""Entries of the catalog: the lake's tables and views, and foreign ones that another tool
created.
"""

from contextlib import suppress
from fnmatch import fnmatchcase

from lakebed.errors import BadName, LakebedError, UnknownName, UsageError
from lakebed.names import ForeignName, TableName
from lakebed.ports import Catalog, ForeignTable, Pointer, TableMetadata, ViewMetadata
from lakebed.tables.lookup.names import find_by_name, tables_matching


def views_matching(catalog: Catalog, pattern: str | None) -> dict[TableName, ViewMetadata]:
    """The lake's views that match; a view dropped in the meantime is left out."""
    found = {view: catalog.view(view) for view in tables_matching(pattern, sorted(catalog.views()))}
    return {view: known for view, known in found.items() if known}


def foreign_matching(catalog: Catalog, pattern: str | None) -> tuple[ForeignTable, ...]:
    """Foreign tables and views that match."""
    return tuple(one for one in catalog.foreign() if pattern is None or _matches(one, pattern))


def _matches(one: ForeignTable, pattern: str) -> bool:
    if one.name is not None:
        return bool(tables_matching(pattern, [one.name]))
    return fnmatchcase(one.table.casefold(), pattern.casefold())


def foreign_metadata(catalog: Catalog, one: ForeignTable) -> TableMetadata | None:
    """The metadata of a foreign table; None for a view, or a table that cannot be read."""
    if one.kind == "view":
        return None
    name = one.name or ForeignName.of(one.table.split("."))
    with suppress(LakebedError):
        return catalog.metadata([Pointer(name, one.location)])[name]
    return None


def find_readable(text: str, catalog: Catalog) -> TableName | ForeignTable:
    """A table or view, the lake's own or foreign, by its name or the end of its name."""
    with suppress(UnknownName, BadName):
        return find_by_name(text, catalog.pointers())
    others = {one.name: one for one in catalog.foreign() if one.name}
    found = find_by_name(text, {*catalog.pointers(), *catalog.views(), *others})
    return others[found] if isinstance(found, ForeignName) else found


def find_table(text: str, catalog: Catalog) -> TableName:
    """One of the lake's own tables; a view or a foreign table raises an error that says
    what it is.
    """
    try:
        return find_by_name(text, catalog.pointers())
    except (UnknownName, BadName):
        found = find_readable(text, catalog)
    raise not_a_table_error(found)


def not_a_table_error(found: TableName | ForeignTable) -> UsageError:
    """Why a view or a foreign table cannot be used as a table of the lake."""
    if isinstance(found, TableName):
        return UsageError(
            f"{found} is a view: it has no rows or snapshots of its own.",
            next=f"Query it: SELECT * FROM {found}",
        )
    return UsageError(
        f"{found.name} is a {found.kind} created by another tool: Lakebed can query it, but never"
        " changes it.",
        next=f"Query it: SELECT * FROM {found.name}",
    )
