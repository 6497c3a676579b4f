"""Leases, as rows: taken, renewed and checked by single statements."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Update, and_, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import leases
from lakebed.errors import LeaseHeld, LeaseLost, Unavailable
from lakebed.ports import Lease


class DatabaseLeases:
    """The leases of a lake."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._owed: set[Lease] = set()  # released here, but the database did not answer

    def acquire(self, name: str, *, holder: str, limit: float) -> Lease:
        while True:
            try:
                taken = self._take(name, holder, limit)
            except IntegrityError:
                continue  # another process inserted the row first: try again
            if isinstance(taken, LeaseHeld):
                raise taken
            if taken:
                self._owed.difference_update(
                    [
                        owed
                        for owed in tuple(self._owed)
                        if owed.name == name and owed.token < taken.token
                    ]
                )
                return taken

    def _take(self, name: str, holder: str, limit: float) -> Lease | LeaseHeld | None:
        """The lease, its holder's error, or None if it became free between two statements."""
        now = self._database.now()
        values = {"holder": holder, "limit_seconds": limit, "heartbeat": now}
        silent = leases.c.heartbeat + leases.c.limit_seconds < now
        free = or_(leases.c.holder.is_(None), silent, *(_is(owed) for owed in tuple(self._owed)))
        taking = (
            update(leases)
            .where(leases.c.name == name, free)
            .values(**values, token=leases.c.token + 1)
        )
        taken: Lease | LeaseHeld | None = None
        try:
            with self._database.writing() as connection:
                taken = self._asked(connection, name, taking, values)
        except Unavailable:
            if isinstance(taken, Lease):  # the commit was sent, and may have happened
                self._owed.add(taken)
            raise
        return taken

    def _asked(
        self, connection: Connection, name: str, taking: Update, values: dict[str, Any]
    ) -> Lease | LeaseHeld | None:
        holder, now = values["holder"], values["heartbeat"]
        if token := connection.execute(taking.returning(leases.c.token)).scalar():
            return Lease(name, holder, token)
        silence = (now - leases.c.heartbeat).label("silent")
        row = connection.execute(
            select(leases.c.holder, leases.c.limit_seconds, silence).where(leases.c.name == name)
        ).first()
        if row is None:
            connection.execute(insert(leases).values(**values, name=name, token=1))
            return Lease(name, holder, 1)
        if row.silent < 0:  # the clock was set back: count from now
            connection.execute(update(leases).where(leases.c.name == name).values(heartbeat=now))
        return (
            LeaseHeld(name, row.holder, max(row.silent, 0.0), row.limit_seconds)
            if row.holder is not None
            else None
        )

    def renew(self, lease: Lease) -> None:
        with self._database.writing() as connection:
            fence(connection, lease)
            connection.execute(
                update(leases)
                .where(leases.c.name == lease.name)
                .values(heartbeat=self._database.now())
            )

    def release(self, lease: Lease) -> None:
        freeing = (
            update(leases)
            .where(leases.c.name == lease.name, leases.c.token == lease.token)
            .values(holder=None)
        )
        try:
            with self._database.writing(guarded=False) as connection:
                connection.execute(freeing)
        except Unavailable:
            self._owed.add(lease)
            raise
        self._owed.discard(lease)

    def holder(self, name: str) -> Lease | None:
        held = leases.c.heartbeat + leases.c.limit_seconds >= self._database.now()
        with self._database.reading() as connection:
            row = connection.execute(
                select(leases.c.holder, leases.c.token).where(
                    leases.c.name == name, leases.c.holder.is_not(None), held
                )
            ).first()
        return Lease(name, row.holder, row.token) if row else None

    def store_time(self) -> datetime:
        return datetime.fromtimestamp(self._database.time(), UTC)

    def are_held(self, taken: Sequence[Lease]) -> bool:
        """Whether whoever took these leases still has every one of them; False for none."""
        return bool(taken) and all(self.holder(lease.name) == lease for lease in taken)


def leases_as_text(taken: Sequence[Lease]) -> str:
    """Leases as JSON, stored with what is done under them."""
    return json.dumps([asdict(lease) for lease in taken])


def leases_from_text(text: str) -> list[Lease]:
    """The leases in a JSON text."""
    return [Lease(**lease) for lease in json.loads(text)]


def _is(lease: Lease) -> ColumnElement[bool]:
    """Whether a row is this lease; the holder is compared too, since a restored backup counts
    tokens again.
    """
    return and_(
        leases.c.name == lease.name, leases.c.token == lease.token, leases.c.holder == lease.holder
    )


def fence(connection: Connection, *held: Lease) -> None:
    """`LeaseLost` unless every lease is held; until the transaction ends, nobody else can take
    one. They are locked in the order of their names, so that no two transactions deadlock.
    """
    for lease in sorted(held, key=lambda lease: lease.name):
        _fence(connection, lease)


def _fence(connection: Connection, lease: Lease) -> None:
    row = connection.execute(
        select(leases.c.holder, leases.c.token).where(leases.c.name == lease.name).with_for_update()
    ).first()
    if row is None or row.token != lease.token or row.holder is None:
        raise LeaseLost(lease.name, row.holder if row else "")
