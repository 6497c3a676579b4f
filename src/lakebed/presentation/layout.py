"""Layouts of tables as JSON-ready values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakebed.names import id_text
from lakebed.presentation.values import fields_of

if TYPE_CHECKING:
    from lakebed.derived.building.steps import LayoutBuild
    from lakebed.derived.summary import LayoutSummary
    from lakebed.derived.verify import LayoutCheck
    from lakebed.names import TableName


def layouts_json(found: "Sequence[LayoutSummary]") -> list[dict[str, Any]]:
    """Layouts as they are."""
    return [layout_json(one) for one in found]


def layout_json(found: "LayoutSummary") -> dict[str, Any]:
    """One layout as it is."""
    hidden = None if found.hidden is None else str(found.hidden)
    return fields_of(found, table=str(found.table), hidden=hidden)


def builds_json(done: "Sequence[LayoutBuild]") -> list[dict[str, Any]]:
    """What a build did to each layout."""
    return [build_json(one) for one in done]


def build_json(done: "LayoutBuild") -> dict[str, Any]:
    """What a build did to one layout."""
    own = fields_of(done, snapshot=id_text(done.snapshot))
    del own["source"]
    return {"table": str(done.source), **own}


def checks_json(found: "Sequence[LayoutCheck]") -> list[dict[str, Any]]:
    """How layouts compare with their tables."""
    return [fields_of(one, table=str(one.table), ok=one.ok) for one in found]


def dropped_layout_json(table: "TableName", name: str) -> dict[str, Any]:
    """A layout that is gone."""
    return {"table": str(table), "name": name}
