"""Changes of a table that a catalog outside the database is about to make: renames, drops, restores
and amendments, each with what is recorded of it.

A change is stored before the catalog is asked, and deleted by the transaction that stores its
records. So the next process can finish one that a crash divided from its records. A publication is
intended in the same way, but can also be completed or undone: see `publications`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import publications
from lakebed.engines.database.state.commit_records import put_change_records
from lakebed.engines.database.state.leases import (
    DatabaseLeases,
    leases_as_text,
    leases_from_text,
)
from lakebed.engines.database.state.naming import delete_dropped_row, rename_in_state
from lakebed.names import TableName
from lakebed.ports import (
    NO_CHANGE_RECORDS,
    AddSnapshot,
    Amendment,
    ChangeRecords,
    Descent,
    Event,
    FileStateChange,
    Lease,
    RemoveRef,
    RemoveSnapshots,
    SetProperties,
    SetRef,
    SetSchema,
    SetSpec,
)

RENAMING, AMENDING = "renaming", "amending"
_AMENDMENTS = {  # names are stored
    "set_ref": SetRef,
    "remove_ref": RemoveRef,
    "set_schema": SetSchema,
    "set_spec": SetSpec,
    "add_snapshot": AddSnapshot,
    "remove_snapshots": RemoveSnapshots,
    "set_properties": SetProperties,
}
_BEGUN = publications.c.state.in_((RENAMING, AMENDING))
# seconds after which a change by a process without a lease counts as abandoned: more than any
# request to a catalog takes
_LONGEST_CHANGE = 600.0


@dataclass(frozen=True)
class IntendedRename:
    """Another name for a table. Drops and restores are renames too."""

    to: TableName
    drops: bool = False  # `to` is the hidden name of a dropped table


@dataclass(frozen=True)
class IntendedAmendments:
    """Amendments of a table's metadata, and the metadata file that they were planned on."""

    base: str
    amendments: tuple[Amendment, ...]


@dataclass(frozen=True)
class IntendedChange:
    """A change that is about to be made, and what is recorded with it."""

    id: str
    table: TableName
    uuid: str  # the table's
    change: IntendedRename | IntendedAmendments
    records: ChangeRecords = NO_CHANGE_RECORDS

    def __str__(self) -> str:
        match self.change:
            case IntendedRename(_, drops=True):
                return f"the drop of {self.table}"
            case IntendedRename(to) if self.table.hidden:
                return f"the restore of {to}"
            case IntendedRename(to):
                return f"the rename of {self.table} to {to}"
            case _:
                kinds = ", ".join(event.kind for event in self.records.events)
                return f"a change of {self.table} ({kinds or 'its metadata'})"


def put_intended(
    connection: Connection, database: Database, intended: IntendedChange, leases: Sequence[Lease]
) -> None:
    """Record a change before it is made, by the holders of these leases."""
    values = {
        "run_id": intended.id,
        "state": RENAMING if isinstance(intended.change, IntendedRename) else AMENDING,
        "moves": _as_text(intended),
        "leases": leases_as_text(leases),
    }
    connection.execute(insert(publications).values(**values, at=database.now()))


def finish_intended(connection: Connection, database: Database, intended: IntendedChange) -> None:
    """The change has happened, and what is recorded of the table follows.

    Can be repeated; its records are stored once.
    """
    if isinstance(intended.change, IntendedRename):
        rename_in_state(connection, intended.table, intended.change.to)
        if not intended.change.drops:
            delete_dropped_row(connection, intended.uuid)
    if _delete(connection, intended):
        put_change_records(connection, database, intended.records)


def forget_intended(connection: Connection, intended: IntendedChange) -> None:
    """The change did not happen."""
    if isinstance(intended.change, IntendedRename) and intended.change.drops:
        delete_dropped_row(connection, intended.uuid)
    _delete(connection, intended)


def abandoned_changes(
    database: Database, *, own: Sequence[Lease] = ()
) -> tuple[IntendedChange, ...]:
    """Changes begun and not finished, oldest first, by processes that have lost a lease; and those
    by the holder of the leases `own`, who asks.
    """
    age = (database.now() - publications.c.at).label("age")
    query = select(publications, age).where(_BEGUN).order_by(publications.c.at)
    with database.reading() as connection:
        rows = connection.execute(query).all()
    store = DatabaseLeases(database)
    return tuple(_from_row(row) for row in rows if _is_abandoned(row, store, own))


def _is_abandoned(row: Row[Any], store: DatabaseLeases, own: Sequence[Lease]) -> bool:
    taken = leases_from_text(row.leases)
    if not taken:
        return bool(row.age > _LONGEST_CHANGE)
    return taken == list(own) or not store.are_held(taken)


def _delete(connection: Connection, intended: IntendedChange) -> bool:
    row = delete(publications).where(publications.c.run_id == intended.id, _BEGUN)
    return connection.execute(row).rowcount == 1


def _as_text(intended: IntendedChange) -> str:
    return json.dumps(
        {
            "table": str(intended.table),
            "uuid": intended.uuid,
            **_change_as_json(intended.change),
            "events": [_named(event) for event in intended.records.events],
            "file_states": [_named(change) for change in intended.records.file_states],
            "descents": [asdict(descent) for descent in intended.records.descents],
        }
    )


def _change_as_json(change: IntendedRename | IntendedAmendments) -> dict[str, Any]:
    if isinstance(change, IntendedRename):
        return {"to": str(change.to), "drops": change.drops}
    names = {kind: name for name, kind in _AMENDMENTS.items()}
    amendments = [[names[type(one)], asdict(one)] for one in change.amendments]
    return {"base": change.base, "amendments": amendments}


def _named(record: Event | FileStateChange) -> dict[str, Any]:
    return asdict(record) | {"table": str(record.table)}


def _from_row(row: Row[Any]) -> IntendedChange:
    stored = json.loads(row.moves)
    events = tuple(
        Event(**event | {"table": TableName.parse(event["table"])}) for event in stored["events"]
    )
    descents = stored.get("descents", ())  # none in what an older version intended
    records = ChangeRecords(
        file_states=tuple(map(_file_state, stored["file_states"])),
        events=events,
        descents=tuple(Descent(**descent) for descent in descents),
    )
    table = TableName.parse(stored["table"])
    return IntendedChange(row.run_id, table, stored["uuid"], _change(stored), records)


def _change(stored: Mapping[str, Any]) -> IntendedRename | IntendedAmendments:
    if "to" in stored:
        return IntendedRename(TableName.parse(stored["to"]), stored["drops"])
    amendments = tuple(_amendment(name, fields) for name, fields in stored["amendments"])
    return IntendedAmendments(stored["base"], amendments)


def _amendment(name: str, fields: Mapping[str, Any]) -> Amendment:
    """JSON has lists where amendments have tuples."""
    given = {key: tuple(one) if isinstance(one, list) else one for key, one in fields.items()}
    made: Amendment = _AMENDMENTS[name](**given)
    return made


def _file_state(stored: Mapping[str, Any]) -> FileStateChange:
    files = tuple((path, run_id) for path, run_id in stored["files"])
    return FileStateChange(TableName.parse(stored["table"]), files, stored["state"])
