"""Reading Iceberg's metadata from JSON, so that listing a lake does not load a table library."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from lakebed.errors import NewerFormat
from lakebed.ports import MAIN, Column, Snapshot, SnapshotRef, TableMetadata, ViewMetadata
from lakebed.types import read_iceberg_type

Json = Mapping[str, Any]
NEWEST_FORMAT = 3  # the newest version of Iceberg's format that the engines support


def refuse_newer(document: Json, location: str) -> None:
    """`NewerFormat` for a table of an unknown format version, whose meaning cannot be guessed."""
    if document["format-version"] > NEWEST_FORMAT:
        raise NewerFormat(location, document["format-version"], NEWEST_FORMAT)


def read_metadata(document: Json) -> TableMetadata:
    """The metadata of a table; `KeyError` or `TypeError` for a document that is not table
    metadata.
    """
    fields = _current(document["schemas"], "schema-id", document["current-schema-id"])["fields"]
    names = {field["id"]: field["name"] for field in fields}
    return TableMetadata(
        uuid=str(document["table-uuid"]),  # PyIceberg uses its own class for it
        location=document["location"],
        format_version=document["format-version"],
        updated_at=_time(document["last-updated-ms"]),
        columns=tuple(_column(field) for field in fields),
        partition_by=_partition(document, names),
        sort_by=_sort(document, names),
        properties=document.get("properties", {}),
        snapshots={
            snapshot["snapshot-id"]: _snapshot(snapshot)
            for snapshot in document.get("snapshots") or ()
        },
        refs=_refs(document),
        schema=document["current-schema-id"],
        spec=document["default-spec-id"],
        specs={
            spec["spec-id"]: tuple(_transformed(field, names) for field in spec["fields"])
            for spec in document["partition-specs"]
        },
        schemas={
            schema["schema-id"]: tuple(_column(field) for field in schema["fields"])
            for schema in document["schemas"]
        },
        snapshot_log=tuple(
            (_time(entry["timestamp-ms"]), entry["snapshot-id"])
            for entry in document.get("snapshot-log") or ()
        ),
        metadata_log=tuple(entry["metadata-file"] for entry in document.get("metadata-log") or ()),
        statistics=tuple(
            entry["statistics-path"]
            for kind in ("statistics", "partition-statistics")
            for entry in document.get(kind) or ()
        ),
    )


def read_view(document: Json) -> ViewMetadata:
    """The current version of a view, in Spark's SQL if it has that."""
    version = _current(document["versions"], "version-id", document["current-version-id"])
    schema = _current(document["schemas"], "schema-id", version["schema-id"])
    texts = {
        one["dialect"]: one["sql"] for one in version["representations"] if one["type"] == "sql"
    }
    dialect = "spark" if "spark" in texts else next(iter(texts))
    return ViewMetadata(
        sql=texts[dialect],
        dialect=dialect,
        columns=tuple(_column(field) for field in schema["fields"]),
        namespace=tuple(version["default-namespace"]),
        catalog=version.get("default-catalog") or "",
        location=document["location"],
        updated_at=_time(version["timestamp-ms"]),
        properties=document.get("properties") or {},
    )


def _current(items: list[Any], key: str, wanted: int) -> Any:
    return next(item for item in items if item[key] == wanted)


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)


def _column(field: Json) -> Column:
    default = field.get("initial-default")
    type_ = read_iceberg_type(field["type"]).iceberg
    return Column(
        field["name"], type_, field["required"], field.get("doc") or "", field["id"], default
    )


def _partition(document: Json, names: Mapping[int, str]) -> tuple[str, ...]:
    spec = _current(document["partition-specs"], "spec-id", document["default-spec-id"])
    return tuple(
        _transformed(field, names) for field in spec["fields"] if field["transform"] != "void"
    )


def _sort(document: Json, names: Mapping[int, str]) -> tuple[str, ...]:
    order = _current(document["sort-orders"], "order-id", document["default-sort-order-id"])
    return tuple(
        f"{_transformed(field, names)} {field['direction']}{_nulls(field)}"
        for field in order["fields"]
    )


def _nulls(field: Json) -> str:
    """The position of NULLs, if not the default: first when ascending, last when descending."""
    usual = "nulls-first" if field["direction"] == "asc" else "nulls-last"
    given = field.get("null-order", usual)
    return "" if given == usual else f" {given.replace('-', ' ')}"


def _transformed(field: Json, names: Mapping[int, str]) -> str:
    column = names.get(field["source-id"], f"#{field['source-id']}")
    transform, _, argument = field["transform"].rstrip("]").partition("[")
    if transform == "identity":
        return column
    return f"{transform}({argument}, {column})" if argument else f"{transform}({column})"


def _snapshot(snapshot: Json) -> Snapshot:
    summary = dict(snapshot.get("summary") or {})
    return Snapshot(
        id=snapshot["snapshot-id"],
        parent=snapshot.get("parent-snapshot-id"),
        at=_time(snapshot["timestamp-ms"]),
        operation=summary.pop("operation", "unknown"),
        summary=summary,
        schema=snapshot.get("schema-id"),
        sequence=snapshot.get("sequence-number") or 0,
        manifest_list=snapshot.get("manifest-list") or "",
    )


def _refs(document: Json) -> dict[str, SnapshotRef]:
    refs = {
        name: SnapshotRef(name, ref["snapshot-id"], _kind(ref["type"]))
        for name, ref in (document.get("refs") or {}).items()
    }
    current = document.get("current-snapshot-id")
    if MAIN not in refs and current is not None and current != -1:
        refs[MAIN] = SnapshotRef(MAIN, current, "branch")
    return refs


def _kind(text: str) -> Literal["branch", "tag"]:
    return "tag" if text == "tag" else "branch"
