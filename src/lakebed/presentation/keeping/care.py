"""What care did, and by which settings, as JSON-ready values."""

from typing import TYPE_CHECKING, Any

from lakebed.presentation.values import fields_of, json_ready

if TYPE_CHECKING:
    from lakebed.care import CareResult
    from lakebed.care.settings_view import CareView
    from lakebed.ports import CareEntry


def care_json(result: "CareResult", *, dry_run: bool) -> dict[str, Any]:
    """What care did, or would do."""
    return {"dry_run": dry_run, "entries": json_ready(result.entries)}


def care_entry_json(entry: "CareEntry") -> dict[str, Any]:
    """One action of care."""
    return fields_of(entry)


def care_settings_json(view: "CareView") -> dict[str, Any]:
    """The settings that care has for a table, and where each is set."""
    return fields_of(view, table=str(view.table))
