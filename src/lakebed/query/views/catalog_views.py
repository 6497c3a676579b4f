"""Views of the catalog: answered by DuckDB if all of their SQL means the same there, by Spark
otherwise.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from lakebed.errors import BadQuery, LakebedError, UnknownName
from lakebed.names import CATALOG, ForeignName, TableName
from lakebed.ports import Catalog, Column, Pointer, TableMetadata, ViewMetadata
from lakebed.query.planning.listings import ListedTable
from lakebed.query.planning.plan import CatalogView, QueryPlan, ReadTarget, SystemTable
from lakebed.query.planning.resolve import CatalogNames, tables_named, with_views_and_foreign
from lakebed.query.request import TableReference
from lakebed.query.views.duck_expression import NotEquivalent

Metadata = Callable[[Sequence[Pointer]], dict[TableName, TableMetadata]]
_SQL_SETTINGS = (
    "spark.sql.ansi",
    "spark.sql.caseSensitive",
    "spark.sql.legacy",
    "spark.sql.parser",
    "spark.sql.session.",  # the time zone, collations
    "spark.sql.timestampType",
)
Planning = Callable[[str], QueryPlan]  # plans a query over tables by their full names


def sql_changing_setting(conf: Iterable[str]) -> str:
    """The first of Spark's settings that changes what its SQL means; empty if there is none."""
    return next((key for key in conf if key.startswith(_SQL_SETTINGS)), "")


def require_present(reference: TableReference, at: str | None) -> None:
    """Raise for a view at a point, or a metadata table of one: views have no snapshots."""
    if reference.part != "rows" or at is not None:
        raise BadQuery(
            f"{reference.table} is a view: it has no snapshots.", next="Query its tables instead."
        )


def plan_view(
    name: TableName, catalog: Catalog, *, metadata: Metadata, planning: Planning, settings: str = ""
) -> CatalogView:
    """How a view is answered.

    With a setting that changes what Spark's SQL means, only Spark can.
    """
    found = catalog.view(name)
    if found is None:
        raise UnknownName("view", str(name))
    if found.dialect != "spark":
        what = f"{name} is a view in the SQL of {found.dialect}, which Lakebed cannot read."
        raise BadQuery(what, next="Query its tables instead.")
    try:
        if settings:
            raise NotEquivalent(f"the setting {settings} of this lake")
        return CatalogView(name, _over_tables(found, catalog, metadata, planning))
    except NotEquivalent as reason:
        return CatalogView(name, why=str(reason))


def _over_tables(
    view: ViewMetadata, catalog: Catalog, metadata: Metadata, planning: Planning
) -> QueryPlan:
    from lakebed.query.views.spark_selects import translate_view

    met: set[TableName] = set()

    def find(parts: tuple[str, ...]) -> tuple[TableName, Sequence[Column]]:
        table, columns = _found(_full_name(parts, view), catalog, metadata)
        met.add(table)
        return table, columns

    text = translate_view(view.sql, view.columns, find)
    try:
        plan = planning(text)
    except (BadQuery, UnknownName) as error:
        raise NotEquivalent(f"DuckDB's error: {error.what}") from error
    if plan.spark_views:
        raise NotEquivalent(f"the view {plan.spark_views[0].name}: {plan.spark_views[0].why}")
    if met != {name_of(one.target) for one in plan.tables}:
        raise NotEquivalent("names that differ in case only")
    return plan


def name_of(target: ReadTarget) -> TableName | None:
    """The table or view that a target reads; None for a system table."""
    what = target.source
    return (
        None
        if isinstance(what, SystemTable)
        else what.name
        if isinstance(what, CatalogView)
        else what.table
    )


def listed_tables(
    known: CatalogNames, catalog: Catalog, metadata: Metadata, *, columns: bool
) -> list[ListedTable]:
    """Everything that a query can name, for a listing; with columns if the statement needs them."""
    pointers = known.tables
    names = [name for name in (*pointers, *known.others - pointers.keys()) if not name.hidden]
    names.sort(key=lambda name: (isinstance(name, ForeignName), name.levels))
    if not columns:
        return [ListedTable(name, is_view=name not in pointers) for name in names]
    tables = metadata(
        [pointers[name] for name in names if name in pointers and not isinstance(name, ForeignName)]
    )
    for name in names:
        if name in pointers and isinstance(name, ForeignName):
            with suppress(LakebedError):  # a damaged foreign table must not break the listing
                tables |= metadata([pointers[name]])
    views = {name: view for name in names if name not in pointers and (view := catalog.view(name))}
    return [
        _listed(name, tables.get(name) or views[name])
        for name in names
        if name in tables or name in views
    ]


def _listed(name: TableName, what: ViewMetadata | TableMetadata) -> ListedTable:
    return ListedTable(
        name,
        what.columns,
        what.properties.get("comment", ""),
        is_view=isinstance(what, ViewMetadata),
    )


def _full_name(parts: tuple[str, ...], view: ViewMetadata) -> tuple[str, ...]:
    """A name as Spark reads it in a view: one part is in the view's namespace, several start at the
    catalog.
    """
    if view.catalog not in ("", CATALOG):
        raise NotEquivalent(f"the catalog {view.catalog}")
    if len(parts) == 1:
        return (*view.namespace, *parts)
    return parts[1:] if parts[0] == CATALOG else parts


def _found(
    levels: tuple[str, ...], catalog: Catalog, metadata: Metadata
) -> tuple[TableName, Sequence[Column]]:
    names = {levels[-1]}
    known = with_views_and_foreign(catalog, tables_named(catalog, names), names)
    for table, pointer in known.tables.items():
        if _is(table, levels):
            return table, metadata([pointer])[table].columns
    for view in _views(known):
        if _is(view, levels) and (found := catalog.view(view)):
            return view, found.columns
    raise NotEquivalent(f"the table {'.'.join(levels)}, which is not there")


def _is(table: TableName, levels: tuple[str, ...]) -> bool:
    return table.levels == levels or ".".join(table.levels) == ".".join(levels)


def _views(known: CatalogNames) -> list[TableName]:
    return [name for name in known.others if known.is_view(name)]
