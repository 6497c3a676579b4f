"""How a table is cared for, and where each setting comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakebed.care.selection import known_tables
from lakebed.care.services import CareServices
from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.settings import TableCare, effective_care
from lakebed.tables.lookup.names import find_by_name


@dataclass(frozen=True)
class CareView:
    """How a table is cared for: defaults, overrides for this table, and what is in effect."""

    table: TableName
    system: Mapping[str, Any]
    overrides: Mapping[str, Mapping[str, Any]]  # by where they come from
    effective: Mapping[str, Any]


def care_settings(services: CareServices, name: str) -> CareView:
    """The settings for the care of a table, for a derived one its source's; raises the error of a
    pipeline whose own cannot be read.
    """
    table = find_by_name(name, known_tables(services))
    sources = services.observer.take_stock().sources if table.derived else {}
    source = sources.get(table, table)
    own = services.rooms.own_care().get(source, TableCare())
    if isinstance(own, LakebedError):
        raise own
    settings = services.ports.settings
    namespace, named = settings.namespaces.get(source.namespace), settings.tables.get(str(source))
    levels = {
        "lake": effective_care(settings.care),
        f"namespace {source.namespace}": namespace.care if namespace else TableCare(),
        "table": named.care if named else TableCare(),
        "pipeline": own,
    }
    overrides = {level: care.model_dump(exclude_unset=True) for level, care in levels.items()}
    given = {level: values for level, values in overrides.items() if values}
    return CareView(
        table, TableCare().model_dump(), given, settings.care_for(source, own=own).model_dump()
    )
