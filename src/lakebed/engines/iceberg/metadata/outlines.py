"""What a metadata file says that reading the table asks about."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Field = Mapping[str, Any]  # of a schema, as the metadata has it
_BY_NAME = "schema.name-mapping.default"


class SnapshotOutline(NamedTuple):
    """A snapshot: its manifest list, and what it says it holds."""

    manifests: str
    files: int | None
    bytes: int | None


class MetadataOutline(NamedTuple):
    """A table's schemas, partition specs and snapshots by their ids."""

    schema: int  # the present one
    schemas: Mapping[int, Sequence[Field]]
    specs: Mapping[int, Sequence[Mapping[str, Any]]]
    snapshots: Mapping[int, SnapshotOutline]
    by_name: bool  # there may be files without field ids, whose columns are found by their names

    @property
    def never_changed(self) -> bool:
        """Whether the table has had one schema only. Ids of schemas are never used again, so none was removed either."""
        return self.schema == 0 and set(self.schemas) == {0}


def read_outline(document: Mapping[str, Any]) -> MetadataOutline:
    """`KeyError` or `TypeError` for a document that is no metadata."""
    return MetadataOutline(
        document["current-schema-id"],
        {schema["schema-id"]: schema["fields"] for schema in document["schemas"]},
        {spec["spec-id"]: spec["fields"] for spec in document["partition-specs"]},
        {one["snapshot-id"]: _state(one) for one in document.get("snapshots") or ()},
        _BY_NAME in document.get("properties", {}),
    )


def _state(snapshot: Mapping[str, Any]) -> SnapshotOutline:
    summary = snapshot.get("summary") or {}
    counts = (int(text) if text.isdigit() else None for text in (summary.get(key, "") for key in _COUNTS))
    return SnapshotOutline(snapshot["manifest-list"], *counts)


_COUNTS = ("total-data-files", "total-files-size")
