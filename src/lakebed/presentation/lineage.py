"""Lineage as JSON-ready values."""

from typing import TYPE_CHECKING, Any

from lakebed.names import id_text
from lakebed.presentation.values import fields_of

if TYPE_CHECKING:
    from lakebed.pipelines.lineage.lineage import ColumnLineage, Lineage


def lineage_json(found: "Lineage") -> dict[str, Any]:
    """Tables, views and zones, and who reads whom."""
    return {
        "nodes": [fields_of(node, snapshot=id_text(node.snapshot)) for node in found.nodes],
        "edges": [fields_of(edge, snapshot=id_text(edge.snapshot)) for edge in found.edges],
    }


def column_lineage_json(traced: "ColumnLineage") -> dict[str, Any]:
    """The columns of a table, each with the columns it is computed from."""
    inputs = None
    if traced.inputs is not None:
        inputs = {table: id_text(snapshot) for table, snapshot in traced.inputs.items()}
    return fields_of(
        traced, table=str(traced.table), snapshot=id_text(traced.snapshot), inputs=inputs
    )
