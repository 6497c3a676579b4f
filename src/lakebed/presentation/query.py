"""How queries are read, and what was asked, as JSON-ready values."""

from typing import TYPE_CHECKING, Any

from lakebed.names import id_text
from lakebed.presentation.values import fields_of

if TYPE_CHECKING:
    from lakebed.query.planning.explain import TableExplanation
    from lakebed.query.results.log import QueryLogEntry


def explained_json(table: "TableExplanation") -> dict[str, Any]:
    """What a query reads of one table."""
    return fields_of(table, snapshot=id_text(table.snapshot))


def logged_query_json(entry: "QueryLogEntry") -> dict[str, Any]:
    """An entry of the query log."""
    return fields_of(entry, snapshot_ids=[id_text(one) for one in entry.snapshot_ids])
