"""Which tables care is requested for."""

from collections.abc import Collection, Iterable

from lakebed.care.services import CareServices
from lakebed.care.spec import CareRequest, action_named
from lakebed.errors import UnknownName
from lakebed.names import TableName
from lakebed.tables.lookup.names import find_by_name, tables_matching


def care_request(
    services: CareServices,
    tables: Collection[str] = (),
    *,
    dry_run: bool,
    only: Iterable[str],
    orphans: bool,
) -> CareRequest:
    """The request, with names and patterns of tables and actions resolved. Care of a table includes
    its derived tables.
    """
    selected = select_tables(tables, known_tables(services)) if tables else None
    if selected:
        sources = services.observer.take_stock().sources
        selected |= {derived for derived, source in sources.items() if source in selected}
    return CareRequest(selected, tuple(map(action_named, only)), dry_run, orphans)


def known_tables(services: CareServices) -> set[TableName]:
    """All tables, including dropped ones and those of which only records of runs are left."""
    dropped = (gone.table for gone in services.ports.catalog.dropped())
    ran = (run.table for run in services.ports.records.summaries())
    return {*services.ports.catalog.pointers(), *dropped, *ran}


def select_tables(texts: Iterable[str], known: Collection[TableName]) -> frozenset[TableName]:
    """The tables that are named in full, by the end of their name, or by a pattern."""
    selected: set[TableName] = set()
    for text in texts:
        if not any(sign in text for sign in "*?"):
            selected.add(find_by_name(text, known))
        elif not (matching := tables_matching(text, known, hidden=True)):
            raise UnknownName("table", text, map(str, known))
        else:
            selected.update(matching)
    return frozenset(selected)
