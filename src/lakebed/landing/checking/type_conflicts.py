"""Two runs that learned different types for the same column: the first to publish wins."""

from lakebed.errors import TypesChanged
from lakebed.names import ZoneName
from lakebed.ports import ColumnTypeChange
from lakebed.types import join_types, parse_type


def require_type(zone: ZoneName, change: ColumnTypeChange, *, stored: str) -> None:
    """`TypesChanged` unless the stored type is the one this run learned, or a wider one."""
    if stored == change.type or (change.before and _is_wider(stored, change.type)):
        return
    raise TypesChanged(
        f"another run has read the column {change.column} as {stored} meanwhile, this one as"
        f" {change.type}.",
        where=str(zone),
        safe="Nothing was published.",
        next="Run it again: the files will then be read with the types now on record.",
    )


def _is_wider(stored: str, wanted: str) -> bool:
    """Whether another run has widened the column further still."""
    return bool(stored) and join_types(parse_type(stored), parse_type(wanted)) == parse_type(stored)
