"""Landing zones as JSON-ready values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakebed.presentation.values import fields_of, json_ready

if TYPE_CHECKING:
    from lakebed.landing import Zone
    from lakebed.ports import FileInfo


def zone_readers(zone: "Zone") -> list[str]:
    """The tables that read a zone."""
    return sorted({str(reader.table) for reader in zone.readers})


def zone_summary_json(zone: "Zone") -> dict[str, Any]:
    """A zone in a list: how many of its files are in which state."""
    return {
        "zone": str(zone.zone),
        **zone.counts,
        "read_by": zone_readers(zone),
        "description": zone.spec.description,
    }


def zone_json(zone: "Zone") -> dict[str, Any]:
    """A zone with its files."""
    return {
        "zone": str(zone.zone),
        "read_by": zone_readers(zone),
        "settings": zone.spec.model_dump(mode="json", exclude_defaults=True),
        "types": json_ready(zone.types),
        "files": json_ready(zone.files),
        "refused_links": json_ready(zone.refused_links),
    }


def landed_json(files: "Sequence[FileInfo]") -> list[dict[str, Any]]:
    """Files that were put into a zone."""
    return [fields_of(file) for file in files]
