"""Tags and branches: the change that sets or removes one. Pure."""

from dataclasses import dataclass
from typing import Literal

from lakebed.errors import NameTaken, UnknownName
from lakebed.names import TableName
from lakebed.ports import (
    MAIN,
    Amendment,
    ChangeRecords,
    Event,
    RemoveRef,
    SetRef,
    Snapshot,
    TableMetadata,
)

RefKind = Literal["tag", "branch"]


@dataclass(frozen=True)
class RefChange:
    """One ref that is set or removed, and the event that is recorded with it."""

    amendment: Amendment
    event: Event

    @property
    def records(self) -> ChangeRecords:
        return ChangeRecords(events=(self.event,))


def plan_ref(
    table: TableName,
    metadata: TableMetadata,
    ref: str,
    point: Snapshot,
    *,
    kind: RefKind,
    replace: bool = False,
) -> RefChange:
    """Set a tag or branch to a snapshot; an existing one is moved only with `replace`, and only to
    its own kind.
    """
    existing = metadata.refs.get(ref)
    if existing and not (replace and existing.kind == kind):
        what = f"{table} already has a {existing.kind} {ref}, at snapshot {existing.snapshot}."
        raise NameTaken(what, where=str(table))
    event = Event("tagged" if kind == "tag" else "branched", table, point.id, {"ref": ref})
    return RefChange(SetRef(ref, point.id, kind), event)


def plan_ref_removal(table: TableName, metadata: TableMetadata, ref: str) -> RefChange:
    """Remove a tag or branch; `main` cannot be removed."""
    existing = metadata.refs.get(ref)
    if existing is None or ref == MAIN:
        raise UnknownName(f"removable tag or branch of {table}", ref, set(metadata.refs) - {MAIN})
    event = Event(
        "untagged" if existing.kind == "tag" else "branch_removed",
        table,
        existing.snapshot,
        {"ref": ref},
    )
    return RefChange(RemoveRef(ref), event)
