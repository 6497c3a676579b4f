"""What has changed since a follower last looked at the tables. Pure."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from lakebed.names import TableName

TableChangeKind = Literal[
    "appeared", "restored", "renamed", "moved", "schema_changed", "amended", "dropped", "gone"
]


@dataclass(frozen=True)
class TableState:
    """A table as a follower has seen it. Its uuid identifies it, for its name may change."""

    uuid: str
    table: TableName
    location: str  # of its metadata file
    snapshot: int | None  # that readers see; None: it has none yet
    schema: int  # id of its present schema
    dropped: bool = False  # it can be restored


@dataclass(frozen=True)
class TableChange:
    """A table that is not as it was: how it was seen last, how it is now, and in what the two
    differ.

    - `appeared`: it was never seen, or was gone; `before` is None
    - `restored`, `dropped`: as it says; what is dropped may be restored
    - `renamed`, `schema_changed`: as they say
    - `moved`: readers see another snapshot
    - `amended`: readers see the same; a tag, a property or the arrangement changed, or snapshots
      expired
    - `gone`: it will not come back; `now` is None
    """

    before: TableState | None
    now: TableState | None
    kinds: tuple[TableChangeKind, ...]

    @property
    def table(self) -> TableName:
        """The table's name, the present one if it has one."""
        state = self.now or self.before
        assert state is not None  # noqa: S101 - a change has at least one of the two
        return state.table


def find_changes(
    seen: Iterable[TableState],
    present: Iterable[TableState],
    *,
    dropped: Collection[str] = (),
    unreadable: Collection[TableName] = (),
) -> tuple[TableChange, ...]:
    """The tables that differ, `seen` last and as they are `present` now.

    `dropped` are the uuids of tables that can be restored. As long as tables are `unreadable`, any
    of them may be one that is missing, so none counts as gone. Tables that give up a name come
    before those that may take it.
    """
    pairs = _paired(list(seen), list(present))
    ends = ((before, now or _ending(before, dropped)) for before, now in pairs)
    changes = (TableChange(before, now, _kinds(before, now)) for before, now in ends)
    told = (one for one in changes if one.kinds and not (unreadable and one.now is None))
    return tuple(sorted(told, key=_order))


def states_after(
    seen: Iterable[TableState], changes: Iterable[TableChange]
) -> tuple[TableState, ...]:
    """What a follower has seen once it has handled these changes."""
    replaced = {change.before for change in changes}
    kept = (state for state in seen if state not in replaced)
    return (*kept, *(change.now for change in changes if change.now))


_Pair = tuple[TableState | None, TableState | None]


def _paired(seen: list[TableState], present: list[TableState]) -> Iterator[_Pair]:
    """Each table as it was and as it is. Foreign writers can give one table two names: then the
    name decides.
    """
    new = {(state.uuid, state.table): state for state in present}
    others = [state for state in seen if (state.uuid, state.table) not in new]
    for before in seen:
        if now := new.pop((before.uuid, before.table), None):
            yield before, now
    for before in others:
        renamed = next((key for key in new if key[0] == before.uuid), None)
        yield before, new.pop(renamed) if renamed else None
    for now in new.values():
        yield None, now


def _ending(before: TableState | None, dropped: Collection[str]) -> TableState | None:
    return replace(before, dropped=True) if before and before.uuid in dropped else None


def _kinds(before: TableState | None, now: TableState | None) -> tuple[TableChangeKind, ...]:
    if before is None:
        return ("appeared",)
    if now is None:
        return ("gone",)
    if now.dropped:
        return () if before.dropped else ("dropped",)
    differences: tuple[tuple[TableChangeKind, bool], ...] = (
        ("restored", before.dropped),
        ("renamed", before.table != now.table),
        ("moved", before.snapshot != now.snapshot),
        ("schema_changed", before.schema != now.schema),
    )
    kinds = tuple(kind for kind, differs in differences if differs)
    return kinds or (("amended",) if before.location != now.location else ())


def _order(change: TableChange) -> tuple[int, str]:
    place = 2 if change.before is None else 0 if change.now is None or change.now.dropped else 1
    return place, str(change.table)
