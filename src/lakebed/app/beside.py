"""What the catalog has beside the lake's own tables: views, and tables and views that somebody else made."""

from contextlib import suppress
from fnmatch import fnmatchcase

from lakebed.app.find import matching, resolve
from lakebed.errors import BadName, LakebedError, UnknownName, UsageError
from lakebed.names import ForeignName, TableName
from lakebed.ports import Catalog, ForeignTable, Pointer, TableMetadata, ViewMetadata


def views_of(catalog: Catalog, pattern: str | None) -> dict[TableName, ViewMetadata]:
    """The lake's views that fit; one that goes meanwhile is left out."""
    found = {view: catalog.view(view) for view in matching(pattern, sorted(catalog.views()))}
    return {view: known for view, known in found.items() if known}


def foreign_of(catalog: Catalog, pattern: str | None) -> tuple[ForeignTable, ...]:
    """What somebody else made, as far as it fits."""
    return tuple(one for one in catalog.foreign() if pattern is None or _fits(one, pattern))


def _fits(one: ForeignTable, pattern: str) -> bool:
    if one.name is not None:
        return bool(matching(pattern, [one.name]))
    return fnmatchcase(one.table.casefold(), pattern.casefold())


def foreign_metadata(catalog: Catalog, one: ForeignTable) -> TableMetadata | None:
    """What a table of somebody else's is; None for a view, and for one that cannot be read."""
    if one.kind == "view":
        return None
    name = one.name or ForeignName.of(one.table.split("."))
    with suppress(LakebedError):
        return catalog.metadata([Pointer(name, one.location)])[name]
    return None


def find_anything(text: str, catalog: Catalog) -> TableName | ForeignTable:
    """A table or view of the lake, or what somebody else made, by its name or the end of it."""
    with suppress(UnknownName, BadName):
        return resolve(text, catalog.pointers())
    others = {one.name: one for one in catalog.foreign() if one.name}
    found = resolve(text, {*catalog.pointers(), *catalog.views(), *others})
    return others[found] if isinstance(found, ForeignName) else found


def find_table(text: str, catalog: Catalog) -> TableName:
    """One of the lake's own tables. What is there and is none is refused with the reason."""
    try:
        return resolve(text, catalog.pointers())
    except (UnknownName, BadName):
        found = find_anything(text, catalog)
    raise not_a_table(found)


def not_a_table(found: TableName | ForeignTable) -> UsageError:
    """Why a view, or what somebody else made, is not what was asked for."""
    if isinstance(found, TableName):
        return UsageError(f"{found} is a view: it has no rows and no states of its own.", next=f"Ask it: SELECT * FROM {found}")
    return UsageError(
        f"{found.name} is a {found.kind} that somebody else made: it can be asked, and Lakebed changes nothing of it.",
        next=f"Ask it: SELECT * FROM {found.name}",
    )
