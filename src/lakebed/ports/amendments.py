"""What may be changed about a table besides its rows: refs, schema, snapshots kept, properties."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class SetRef:
    """A branch or tag stands at a snapshot from now on."""

    name: str
    snapshot: int
    kind: Literal["branch", "tag"] = "branch"


@dataclass(frozen=True)
class RemoveRef:
    """A branch or tag goes; what only it reached may expire."""

    name: str


@dataclass(frozen=True)
class SetSchema:
    """The columns are those of this schema from now on."""

    schema: int


@dataclass(frozen=True)
class RemoveSnapshots:
    """These are known no more. Their files stay: whether another table reaches them is asked elsewhere."""

    snapshots: tuple[int, ...]


@dataclass(frozen=True)
class SetProperties:
    """These properties hold from now on; None takes one away."""

    properties: Mapping[str, str | None]


Amendment = SetRef | RemoveRef | SetSchema | RemoveSnapshots | SetProperties
"""One change to a table's metadata. Several make one commit."""
