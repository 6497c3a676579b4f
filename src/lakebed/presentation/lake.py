"""A lake as a whole as JSON-ready values: what is in it, and how it was made, checked, saved and
moved.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakebed.presentation.table import size_json
from lakebed.presentation.values import fields_of, json_ready

if TYPE_CHECKING:
    from lakebed.app.doctor import DoctorFinding
    from lakebed.app.spark.workers import WorkerLog, WorkerStatus
    from lakebed.app.upkeep import DatabaseUpgrade
    from lakebed.care.backup import BackupReport, RestoreReport
    from lakebed.care.relocation import RelocationReport
    from lakebed.ports import ForeignTable, TableMetadata, ViewMetadata
    from lakebed.settings import Root, Settings
    from lakebed.tables.ownership import Takeover

_UNKNOWN = dict.fromkeys(("rows", "files", "bytes", "updated_at", "branches"))


def created_json(
    root: "Root", settings: "Settings", files: Sequence[str], unset: Mapping[str, str]
) -> dict[str, Any]:
    """A new lake, and the variables that have to be set to open it."""
    return {
        "root": str(root),
        "catalog": settings.catalog.kind,
        "files": list(files),
        "variables": dict(unset),
    }


def doctor_json(findings: "Sequence[DoctorFinding]") -> list[dict[str, Any]]:
    """The state of each component."""
    return [fields_of(found) for found in findings]


def listed_table_json(
    name: str, metadata: "TableMetadata", *, kind: str = "table"
) -> dict[str, Any]:
    """A table in a list."""
    head = metadata.head()
    return {
        "table": name,
        "kind": kind,
        **size_json(metadata),
        "updated_at": json_ready(head.at if head else metadata.updated_at),
        "branches": sum(ref.kind == "branch" for ref in metadata.refs.values()),
        "location": metadata.location,
    }


def listed_view_json(name: str, view: "ViewMetadata") -> dict[str, Any]:
    """A view in a list."""
    updated = json_ready(view.updated_at)
    return {
        "table": name,
        "kind": "view",
        **_UNKNOWN,
        "updated_at": updated,
        "location": view.location,
    }


def listed_foreign_json(one: "ForeignTable", metadata: "TableMetadata | None") -> dict[str, Any]:
    """What others made in the catalog, in a list; without figures if it is a view or cannot be
    read.
    """
    name, kind = str(one.name or one.table), f"foreign {one.kind}"
    if metadata is None:
        return {"table": name, "kind": kind, **_UNKNOWN, "location": one.location}
    return listed_table_json(name, metadata, kind=kind)


def backup_json(made: "BackupReport") -> dict[str, Any]:
    """A backup that was written."""
    return fields_of(made)


def restored_json(restored: "RestoreReport") -> dict[str, Any]:
    """What a backup brought back."""
    return fields_of(restored)


def takeover_json(done: "Takeover") -> dict[str, Any]:
    """The lake's identity after a takeover, and the generation before it."""
    return fields_of(done.now) | {
        "former_generation": done.before.generation if done.before else None
    }


def upgrade_json(upgrade: "DatabaseUpgrade") -> dict[str, Any]:
    """The version of the lake's database, and whether it was changed."""
    return fields_of(upgrade)


def relocated_json(moved: "RelocationReport") -> dict[str, Any]:
    """The tables whose metadata was rewritten."""
    return fields_of(moved)


def worker_json(worker: "WorkerStatus") -> dict[str, Any]:
    """A worker of the lake: what it is for, and what it does."""
    return fields_of(worker)


def worker_log_json(log: "WorkerLog") -> dict[str, Any]:
    """The end of a worker's log."""
    return fields_of(log)
