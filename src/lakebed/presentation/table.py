"""Tables and views as JSON-ready values."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lakebed.names import id_text
from lakebed.presentation.values import fields_of, json_ready
from lakebed.types import read_iceberg_type

if TYPE_CHECKING:
    from lakebed.names import ForeignName, TableName
    from lakebed.ports import Column, DroppedTable, RunRecord, Snapshot, TableMetadata, ViewMetadata
    from lakebed.tables import HistoryEntry, Rollback, TableDiff
    from lakebed.tables.adopting.look import Adoption
    from lakebed.tables.migration.steps import MigrationPlan, MigrationResult, UndoneMigration


def column_type(type_: str) -> str:
    """A type of Iceberg's metadata as pipelines and zones write it: `bigint`, not `long`."""
    return str(read_iceberg_type(type_))


def _columns_json(columns: "Sequence[Column]") -> list[dict[str, Any]]:
    return [fields_of(column, type=column_type(column.type)) for column in columns]


def table_json(name: "TableName | ForeignName", metadata: "TableMetadata") -> dict[str, Any]:
    """All that `table describe` says of a table."""
    refs = [
        {"name": ref.name, "snapshot": id_text(ref.snapshot), "kind": ref.kind}
        for ref in metadata.refs.values()
    ]
    return {
        "table": str(name),
        "uuid": metadata.uuid,
        "location": metadata.location,
        "format_version": metadata.format_version,
        "updated_at": json_ready(metadata.updated_at),
        **size_json(metadata),
        "partition_by": json_ready(metadata.partition_by),
        "sort_by": json_ready(metadata.sort_by),
        "columns": _columns_json(metadata.columns),
        "refs": refs,
        "properties": json_ready(metadata.properties),
    }


def size_json(metadata: "TableMetadata") -> dict[str, int | None]:
    """Rows, data files and bytes of the snapshot that readers see."""
    head = metadata.head()
    if head is None:
        return {"rows": 0, "files": 0, "bytes": 0}
    return {
        "rows": head.rows,
        "files": head.count("total-data-files"),
        "bytes": head.count("total-files-size"),
    }


def view_json(name: "TableName | ForeignName", view: "ViewMetadata") -> dict[str, Any]:
    """All that `table describe` says of a view."""
    shown = {
        "view": str(name),
        "location": view.location,
        "updated_at": view.updated_at,
        "columns": _columns_json(view.columns),
        "dialect": view.dialect,
        "sql": view.sql,
        "properties": view.properties,
    }
    return json_ready(shown)  # type: ignore[no-any-return]


def history_json(entry: "HistoryEntry") -> dict[str, Any]:
    """A snapshot, or a change that made none."""
    snapshot, noted = entry.snapshot, entry.event
    of_event = noted.event.snapshot if noted else None
    return {
        "snapshot": id_text(snapshot.id if snapshot else of_event),
        "at": json_ready(entry.at),
        "what": entry.what,
        "current": entry.current,
        "undone": entry.undone,
        "added": (snapshot.count("added-records") or 0) if snapshot else None,
        "deleted": snapshot.deleted if snapshot else None,
        "rows": snapshot.rows if snapshot else None,
        "run": snapshot.run_id if snapshot else None,
        "detail": ", ".join(f"{key} {value}" for key, value in noted.event.detail.items())
        if noted
        else "",
    }


def rollback_json(plan: "Rollback", *, done: bool) -> dict[str, Any]:
    """What a rollback does, or did."""
    return {
        "table": str(plan.table),
        "from": id_text(plan.base),
        "to": id_text(plan.to.id),
        "of": json_ready(plan.to.at),
        "undone": json_ready(plan.undone),
        "redone": json_ready(plan.redone),
        "requeued": [file.path for file in plan.files],
        "done": done and not plan.changes_nothing,
    }


def migration_plan_json(plan: "MigrationPlan") -> dict[str, Any]:
    """What a migration would do."""
    return {
        "table": str(plan.table),
        "from": list(plan.present),
        "to": [str(field) for field in plan.wanted],
        "goes_on": plan.goes_on,
        "batches": [
            {
                "batch": batch.label,
                "files": batch.files,
                "rows": batch.rows,
                "bytes": batch.bytes,
            }
            for batch in plan.batches
        ],
        "files": plan.files,
        "bytes": plan.bytes,
    }


def migration_json(done: "MigrationResult") -> dict[str, Any]:
    """What a migration did; a checksum has more digits than a number of JSON keeps."""
    return {
        "table": str(done.table),
        "from": list(done.former),
        "to": list(done.present),
        "batches": done.batches,
        "files": done.files,
        "bytes": done.bytes,
        "rows": done.sum.rows,
        "checksum": str(done.sum.checksum),
        "compared": done.compared,
        "snapshot": id_text(done.snapshot),
    }


def undone_json(undone: "UndoneMigration") -> dict[str, Any]:
    """A migration that was undone."""
    return {
        "table": str(undone.table),
        "to": list(undone.present),
        "snapshot": id_text(undone.snapshot),
        "note": undone.note,
    }


def diff_json(found: "TableDiff") -> dict[str, Any]:
    """Two snapshots of a table, compared; values of rows keep all their digits."""
    from lakebed.query.results.export import plain

    return {
        "before": id_text(found.before.id),
        "after": id_text(found.after.id),
        "keys": json_ready(found.keys),
        "columns": json_ready(found.columns),
        "rows": json_ready(found.rows),
        "figures": [plain(asdict(one)) for one in found.figures],
        "examples": {
            kind: [plain(asdict(row)) for row in rows] for kind, rows in found.examples.items()
        },
    }


def tag_json(tag: str, snapshot: "Snapshot") -> dict[str, Any]:
    """A tag, and the snapshot it names."""
    return {"tag": tag, "snapshot": id_text(snapshot.id)}


def removed_ref_json(ref: str) -> dict[str, Any]:
    """A tag or branch that is gone."""
    return {"removed": ref}


def clone_json(made: str) -> dict[str, Any]:
    """A new table or branch, in words."""
    return {"made": made}


def table_name_json(table: "TableName") -> dict[str, Any]:
    """A table under its present name."""
    return {"table": str(table)}


def dropped_view_json(view: "TableName") -> dict[str, Any]:
    """A view that is gone."""
    return {"view": str(view)}


def just_dropped_json(dropped: "DroppedTable") -> dict[str, Any]:
    """A table that was just dropped; its uuid distinguishes it from others of the same name."""
    return {"table": str(dropped.table), "uuid": dropped.uuid}


def dropped_json(dropped: "DroppedTable") -> dict[str, Any]:
    """A dropped table that can be restored."""
    return {"table": str(dropped.table), "uuid": dropped.uuid, "at": json_ready(dropped.at)}


def adoption_json(adoption: "Adoption") -> dict[str, Any]:
    """What adopting a folder would make a table of."""
    return {
        "table": str(adoption.table),
        "folder": adoption.folder,
        "rewrite": adoption.rewrite,
        "files": adoption.files,
        "bytes": adoption.bytes,
        "rows": adoption.rows,
        "columns": [{"name": field.name, "type": field.type} for field in adoption.columns],
        "partition_by": list(adoption.partition_by),
        "left_out": list(adoption.left_out),
        "left_out_count": adoption.left_out_count,
    }


def manual_change_json(record: "RunRecord") -> dict[str, Any]:
    """What a manual change published."""
    return {
        "table": str(record.table),
        "run": record.run_id,
        "snapshot": id_text(record.snapshot),
        "rows": json_ready(record.rows),
    }
