"""Views of the catalog in a query: by DuckDB where all of their SQL means the same there, by Spark otherwise."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from lakebed.errors import BadQuery, LakebedError, UnknownName
from lakebed.names import CATALOG, ForeignName, TableName
from lakebed.ports import Catalog, Column, Pointer, TableMetadata, ViewMetadata
from lakebed.query.planning.listings import Listed
from lakebed.query.planning.plan import Own, QueryPlan, Target, Viewed
from lakebed.query.planning.resolve import Known, named, with_beside
from lakebed.query.spec import TableReference
from lakebed.query.views.spark_expressions import Different

Metadata = Callable[[Sequence[Pointer]], dict[TableName, TableMetadata]]
Planning = Callable[[str], QueryPlan]  # of a query over tables by their whole names


def refuse_states(meant: TableReference, at: str | None) -> None:
    """A view is what its query says now."""
    if meant.about != "rows" or at is not None:
        raise BadQuery(f"{meant.table} is a view: it has no states of its own.", next="Ask its tables instead.")


def viewed(name: TableName, catalog: Catalog, *, metadata: Metadata, planning: Planning, settings: str = "") -> Viewed:
    """How a view is answered. `settings` of Spark's may change what its SQL means, so that only Spark knows."""
    found = catalog.view(name)
    if found is None:
        raise UnknownName("view", str(name))
    if found.dialect != "spark":
        what = f"{name} is a view in the SQL of {found.dialect}, which Lakebed does not know."
        raise BadQuery(what, next="Ask its tables instead.")
    try:
        if settings:
            raise Different(f"the setting {settings} of this lake")
        return Viewed(name, _over_tables(found, catalog, metadata, planning))
    except Different as reason:
        return Viewed(name, why=str(reason))


def _over_tables(view: ViewMetadata, catalog: Catalog, metadata: Metadata, planning: Planning) -> QueryPlan:
    from lakebed.query.views.spark_selects import in_duckdb

    met: set[TableName] = set()

    def find(parts: tuple[str, ...]) -> tuple[TableName, Sequence[Column]]:
        table, columns = _found(_whole(parts, view), catalog, metadata)
        met.add(table)
        return table, columns

    text = in_duckdb(view.sql, view.columns, find)
    try:
        plan = planning(text)
    except (BadQuery, UnknownName) as error:
        raise Different(f"what DuckDB says of it: {error.what}") from error
    if plan.by_spark:
        raise Different(f"the view {plan.by_spark[0].name}: {plan.by_spark[0].why}")
    if met != {named_by(one.target) for one in plan.views}:
        raise Different("names that differ in case only")
    return plan


def named_by(target: Target) -> TableName | None:
    """The table or view that a name stands for."""
    what = target.what
    return None if isinstance(what, Own) else what.name if isinstance(what, Viewed) else what.table


def listed_of(known: Known, catalog: Catalog, metadata: Metadata, *, columns: bool) -> list[Listed]:
    """Everything that a query can name, for statements that list it; with columns where they are asked for."""
    pointers = known.tables
    names = [name for name in (*pointers, *known.beside - pointers.keys()) if not name.hidden]
    names.sort(key=lambda name: (isinstance(name, ForeignName), name.levels))
    if not columns:
        return [Listed(name, is_view=name not in pointers) for name in names]
    tables = metadata([pointers[name] for name in names if name in pointers and not isinstance(name, ForeignName)])
    for name in names:
        if name in pointers and isinstance(name, ForeignName):
            with suppress(LakebedError):  # what somebody else left behind is in nobody's way
                tables |= metadata([pointers[name]])
    views = {name: view for name in names if name not in pointers and (view := catalog.view(name))}
    return [_listed(name, tables.get(name) or views[name]) for name in names if name in tables or name in views]


def _listed(name: TableName, what: ViewMetadata | TableMetadata) -> Listed:
    return Listed(name, what.columns, what.properties.get("comment", ""), is_view=isinstance(what, ViewMetadata))


def _whole(parts: tuple[str, ...], view: ViewMetadata) -> tuple[str, ...]:
    """A name as Spark reads it in a view: one part is in the view's namespace, several begin at the catalog, named or not."""
    if view.catalog not in ("", CATALOG):
        raise Different(f"the catalog {view.catalog}")
    if len(parts) == 1:
        return (*view.namespace, *parts)
    return parts[1:] if parts[0] == CATALOG else parts


def _found(levels: tuple[str, ...], catalog: Catalog, metadata: Metadata) -> tuple[TableName, Sequence[Column]]:
    names = {levels[-1]}
    known = with_beside(catalog, named(catalog, names), names)
    for table, pointer in known.tables.items():
        if _is(table, levels):
            return table, metadata([pointer])[table].columns
    for view in _views(known):
        if _is(view, levels) and (found := catalog.view(view)):
            return view, found.columns
    raise Different(f"the table {'.'.join(levels)}, which is not there")


def _is(table: TableName, levels: tuple[str, ...]) -> bool:
    return table.levels == levels or ".".join(table.levels) == ".".join(levels)


def _views(known: Known) -> list[TableName]:
    return [name for name in known.beside if known.is_view(name)]
