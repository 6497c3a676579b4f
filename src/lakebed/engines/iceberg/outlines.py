"""What a metadata file says that reading the table asks about."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Field = Mapping[str, Any]  # of a schema, as the metadata has it
_BY_NAME = "schema.name-mapping.default"


class State(NamedTuple):
    """A snapshot: its manifest list, the schema it was written with, and what it says it holds."""

    manifests: str
    schema: int | None
    files: int | None
    bytes: int | None


class Outline(NamedTuple):
    """A table's schemas, partition specs and snapshots by their ids."""

    current: int | None  # the snapshot of `main`
    schema: int
    schemas: Mapping[int, Sequence[Field]]
    specs: Mapping[int, Sequence[Mapping[str, Any]]]
    snapshots: Mapping[int, State]
    by_name: bool  # there may be files without field ids, whose columns are found by their names

    def fields(self, snapshot: int | None) -> Sequence[Field]:
        """The columns at a snapshot: the present ones at the present one, elsewhere those it was written with."""
        written = self.snapshots[snapshot].schema if snapshot is not None and snapshot != self.current else None
        return self.schemas[written if written in self.schemas and written is not None else self.schema]


def read_outline(document: Mapping[str, Any]) -> Outline:
    """`KeyError` or `TypeError` for a document that is no metadata."""
    current = document.get("current-snapshot-id")
    return Outline(
        current if current is not None and current != -1 else None,
        document["current-schema-id"],
        {schema["schema-id"]: schema["fields"] for schema in document["schemas"]},
        {spec["spec-id"]: spec["fields"] for spec in document["partition-specs"]},
        {one["snapshot-id"]: _state(one) for one in document.get("snapshots") or ()},
        _BY_NAME in document.get("properties", {}),
    )


def _state(snapshot: Mapping[str, Any]) -> State:
    summary = snapshot.get("summary") or {}
    counts = (int(text) if text.isdigit() else None for text in (summary.get(key, "") for key in _COUNTS))
    return State(snapshot["manifest-list"], snapshot.get("schema-id"), *counts)


_COUNTS = ("total-data-files", "total-files-size")
