"""Events, followers and protected snapshots, as rows."""

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Row,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    tuple_,
    update,
)

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import events, followers, holds
from lakebed.engines.database.state.counters import EVENTS, raise_counter, value_of
from lakebed.names import TableName
from lakebed.ports import (
    Event,
    EventKind,
    RecordedEvent,
    RegisteredFollower,
    SnapshotProtection,
)

_FOLLOW = text(  # one statement: others may register or remove the same follower at once
    "INSERT INTO lakebed_followers (name, number) VALUES (:name, :number) ON CONFLICT (name)"
    " DO UPDATE SET name = excluded.name RETURNING number"
)


def put_events(connection: Connection, database: Database, happened: Sequence[Event]) -> None:
    """Record events in the caller's transaction, after all its other rows: whoever else records
    events waits until it ends.
    """
    if not happened:
        return
    before = raise_counter(connection, EVENTS, by=len(happened)) - len(happened)
    rows = [
        {
            "number": number,
            "kind": event.kind,
            "table_name": str(event.table),
            "snapshot": event.snapshot,
            "detail": json.dumps(dict(event.detail)),
        }
        for number, event in enumerate(happened, before + 1)
    ]
    connection.execute(insert(events).values(at=database.now()), rows)


class DatabaseEvents:
    """The lake's log of events, its followers, and the protected snapshots."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, *happened: Event) -> None:
        with self._database.writing() as connection:
            put_events(connection, self._database, happened)

    def since(
        self,
        number: int = 0,
        *,
        table: TableName | None = None,
        kinds: Collection[EventKind] = (),
        after: datetime | None = None,
        limit: int = 1000,
    ) -> tuple[RecordedEvent, ...]:
        query = (
            select(events).where(events.c.number > number).order_by(events.c.number).limit(limit)
        )
        query = query.where(events.c.table_name == str(table)) if table else query
        query = query.where(events.c.kind.in_(kinds)) if kinds else query
        query = query.where(events.c.at >= after.timestamp()) if after else query
        with self._database.reading() as connection:
            return tuple(_recorded(row) for row in connection.execute(query))

    def delete(self, *, before: datetime) -> int:
        behind = select(func.min(followers.c.number)).scalar_subquery()
        done = or_(behind.is_(None), events.c.number <= behind)
        with self._database.writing() as connection:
            return connection.execute(
                delete(events).where(events.c.at < before.timestamp(), done)
            ).rowcount

    def follow(self, name: str) -> int:
        looked = update(followers).where(followers.c.name == name)
        with self._database.writing() as connection:
            start = {"name": name, "number": value_of(connection, EVENTS)}
            number = connection.execute(_FOLLOW, start).scalar_one()
            connection.execute(looked.values(at=self._database.now()))
        return int(number)

    def acknowledge(self, name: str, number: int) -> None:
        further = case((followers.c.number < number, number), else_=followers.c.number)
        looked = update(followers).where(followers.c.name == name)
        with self._database.writing() as connection:
            connection.execute(looked.values(number=further, at=self._database.now()))

    def unfollow(self, name: str) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(followers).where(followers.c.name == name))
            connection.execute(delete(holds).where(holds.c.holder == name))

    def followers(self) -> tuple[RegisteredFollower, ...]:
        with self._database.reading() as connection:
            rows = connection.execute(select(followers).order_by(followers.c.name)).all()
        return tuple(
            RegisteredFollower(row.name, row.number, _time(row.at) if row.at else None)
            for row in rows
        )

    def protect(
        self,
        holder: str,
        table: TableName,
        snapshots: Collection[int],
        *,
        seconds: float | None = None,
        add: bool = False,
    ) -> None:
        now = self._database.now()
        until = None if seconds is None else now + seconds
        replaced = _of(holder, table, snapshots if add else None)
        with self._database.writing(guarded=False) as connection:
            connection.execute(_lapsed_deletion(now))
            connection.execute(delete(holds).where(*replaced))
            for snapshot in sorted(set(snapshots)):
                values = {"holder": holder, "table_name": str(table), "snapshot": snapshot}
                connection.execute(insert(holds).values(**values, until=until))

    def renew(self, holder: str, *, seconds: float) -> bool:
        theirs, until = holds.c.holder == holder, self._database.now() + seconds
        with self._database.writing(guarded=False) as connection:
            connection.execute(
                update(holds).where(theirs, holds.c.until.is_not(None)).values(until=until)
            )
            return connection.execute(select(holds.c.holder).where(theirs)).first() is not None

    def unprotect(
        self,
        holder: str,
        table: TableName | None = None,
        *,
        snapshots: Collection[int] | None = None,
    ) -> None:
        with self._database.writing(guarded=False) as connection:
            connection.execute(delete(holds).where(*_of(holder, table, snapshots)))

    def protected(self) -> tuple[SnapshotProtection, ...]:
        lasting = or_(holds.c.until.is_(None), holds.c.until > self._database.now())
        with self._database.reading() as connection:
            rows = connection.execute(
                select(holds).where(lasting).order_by(holds.c.holder, holds.c.snapshot)
            ).all()
        return tuple(
            SnapshotProtection(
                row.holder,
                TableName.parse(row.table_name),
                row.snapshot,
                _time(row.until) if row.until else None,
            )
            for row in rows
        )


def _of(
    holder: str, table: TableName | None, snapshots: Collection[int] | None
) -> Iterator[ColumnElement[bool]]:
    """What a holder protects: of one table, or of all; these snapshots, or all."""
    yield holds.c.holder == holder
    if table is not None:
        yield holds.c.table_name == str(table)
    if snapshots is not None:
        yield holds.c.snapshot.in_(snapshots)


def _lapsed_deletion(now: ColumnElement[float]) -> Delete:
    """Deletes what readers that died protected. Rows that another transaction is working on are
    left out, or two of them could wait for each other.
    """
    key = (holds.c.holder, holds.c.table_name, holds.c.snapshot)
    free = select(*key).where(holds.c.until <= now).with_for_update(skip_locked=True)
    return delete(holds).where(tuple_(*key).in_(free))


def _recorded(row: Row[Any]) -> RecordedEvent:
    event = Event(row.kind, TableName.parse(row.table_name), row.snapshot, json.loads(row.detail))
    return RecordedEvent(row.number, _time(row.at), event)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
