"""Which table or view a name in a query means: the lake's own tables first, then views and foreign
tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakebed.errors import UnknownName
from lakebed.names import ForeignName, TableName
from lakebed.ports import Catalog, ForeignTable, Pointer
from lakebed.query.request import TableReference, resolve_table, unknown_table


@dataclass(frozen=True)
class CatalogNames:
    """What the catalog holds, or a part of it. `pointers` are those of the lake's own tables."""

    pointers: Mapping[TableName, Pointer] = field(default_factory=dict)
    views: frozenset[TableName] = frozenset()
    foreign: tuple[ForeignTable, ...] = ()

    @property
    def tables(self) -> dict[TableName, Pointer]:
        """The pointer of each table, foreign ones included."""
        found = dict(self.pointers)
        found.update(
            {
                one.name: Pointer(one.name, one.location)
                for one in self.foreign
                if one.name and one.kind == "table"
            }
        )
        return found

    @property
    def others(self) -> set[TableName]:
        """Views and foreign tables."""
        return {*self.views, *(one.name for one in self.foreign if one.name)}

    def is_view(self, name: TableName) -> bool:
        """Whether a name is that of a view."""
        return name in self.views or (isinstance(name, ForeignName) and name not in self.tables)

    def resolve(self, parts: Sequence[str], namespace: str | None) -> TableReference | None:
        """As `resolve_table`; a view or foreign table is meant only if no table of the lake is."""
        try:
            return resolve_table(parts, self.pointers, namespace=namespace)
        except UnknownName as error:
            if error.kind != "table":
                raise
        try:
            return resolve_table(parts, self.others, namespace=namespace)
        except UnknownName:
            raise unknown_table(parts, {*self.pointers, *self.others}) from None


def tables_named(catalog: Catalog, names: set[str]) -> CatalogNames:
    """The lake's own tables whose last name is one of these: one lookup, and enough for most
    queries.
    """
    return CatalogNames(catalog.pointers(named=names) if names else {})


def with_views_and_foreign(catalog: Catalog, known: CatalogNames, names: set[str]) -> CatalogNames:
    """The same, with the views and foreign tables of these names."""
    views = frozenset(
        view
        for view in catalog.views()
        if view.name.casefold() in {name.casefold() for name in names}
    )
    return CatalogNames(known.pointers, views, catalog.foreign(named=names))


def all_names(catalog: Catalog) -> CatalogNames:
    """Everything in the catalog: for names not found otherwise, and for suggestions."""
    return CatalogNames(catalog.pointers(), frozenset(catalog.views()), catalog.foreign())
