"""The parts of a metadata file that reading a table needs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Field = Mapping[str, Any]  # of a schema, as JSON
_BY_NAME = "schema.name-mapping.default"
_CHANGES = ("added-data-files", "deleted-data-files", "added-delete-files", "removed-delete-files")


class SnapshotOutline(NamedTuple):
    """A snapshot: its manifest list, its number of files and bytes, and where it comes from.

    `changes` are the files that it added and removed, as far as its summary counts them.
    """

    manifests: str
    files: int | None
    bytes: int | None
    parent: int | None
    operation: str | None
    changes: int


class MetadataOutline(NamedTuple):
    """A table's schemas, partition specs and snapshots by id."""

    schema: int  # the present one
    schemas: Mapping[int, Sequence[Field]]
    specs: Mapping[int, Sequence[Mapping[str, Any]]]
    snapshots: Mapping[int, SnapshotOutline]
    by_name: bool  # some files may have no field ids: their columns are found by name

    @property
    def never_changed(self) -> bool:
        """Whether the table has only ever had one schema; ids are never reused, so none was
        removed.
        """
        return self.schema == 0 and set(self.schemas) == {0}


def read_outline(document: Mapping[str, Any]) -> MetadataOutline:
    """The outline of a document; `KeyError` or `TypeError` if it is not table metadata."""
    return MetadataOutline(
        document["current-schema-id"],
        {schema["schema-id"]: schema["fields"] for schema in document["schemas"]},
        {spec["spec-id"]: spec["fields"] for spec in document["partition-specs"]},
        {one["snapshot-id"]: _state(one) for one in document.get("snapshots") or ()},
        _BY_NAME in document.get("properties", {}),
    )


def _state(snapshot: Mapping[str, Any]) -> SnapshotOutline:
    summary = snapshot.get("summary") or {}
    return SnapshotOutline(
        snapshot["manifest-list"],
        _number(summary.get("total-data-files", "")),
        _number(summary.get("total-files-size", "")),
        snapshot.get("parent-snapshot-id"),
        summary.get("operation"),
        sum(_number(summary[key]) or 0 for key in _CHANGES if key in summary),
    )


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None
