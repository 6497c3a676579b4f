"""Changes to a table's metadata: refs, schema, partitioning, snapshots and properties."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class SetRef:
    """Point a branch or tag at a snapshot."""

    name: str
    snapshot: int
    kind: Literal["branch", "tag"] = "branch"


@dataclass(frozen=True)
class RemoveRef:
    """Remove a branch or tag; snapshots that only it kept may expire."""

    name: str


@dataclass(frozen=True)
class SetSchema:
    """Make this schema the current one."""

    schema: int


@dataclass(frozen=True)
class SetSpec:
    """Make this partition spec, which the table has or had, the current one."""

    spec: int


@dataclass(frozen=True)
class AddSnapshot:
    """Add a snapshot whose manifests are written; no ref points at it yet.

    `document` is the snapshot as JSON, as a metadata file has it.
    """

    snapshot: int
    document: str


@dataclass(frozen=True)
class RemoveSnapshots:
    """Remove snapshots from the metadata. Their files stay: another table may need them."""

    snapshots: tuple[int, ...]


@dataclass(frozen=True)
class SetProperties:
    """Set properties; None removes one."""

    properties: Mapping[str, str | None]


Amendment = SetRef | RemoveRef | SetSchema | SetSpec | AddSnapshot | RemoveSnapshots | SetProperties
"""One change to a table's metadata; several are committed together."""
