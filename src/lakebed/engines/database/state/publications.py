"""Publications, as rows: what runs have published, or intend to."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import publications
from lakebed.engines.database.state.commit_records import (
    confirm_publication_records,
    delete_publication_records,
    put_publication_records,
)
from lakebed.engines.database.state.events import put_events
from lakebed.engines.database.state.leases import (
    DatabaseLeases,
    leases_as_text,
    leases_from_text,
)
from lakebed.engines.database.state.ledger import PUBLISHED, keep_times_of
from lakebed.names import TableName
from lakebed.ports import NO_PUBLICATION_RECORDS, Lease, Publication, PublicationRecords, RefMove

INTENDED = "intended"
_AT_ONCE = 500


def record(
    connection: Connection,
    database: Database,
    publication: Publication,
    *,
    state: str,
    leases: Sequence[Lease] = (),
    records: PublicationRecords = NO_PUBLICATION_RECORDS,
) -> None:
    """Store a publication and its records, in the caller's transaction."""
    values = {
        "run_id": publication.run_id,
        "state": state,
        "moves": _as_text(publication),
        "leases": leases_as_text(leases),
    }
    connection.execute(insert(publications).values(**values, at=database.now()))
    put_publication_records(
        connection, records, publication=publication.run_id, done=state == PUBLISHED
    )
    if state == PUBLISHED:
        put_events(connection, database, publication.events)


def mark_published(connection: Connection, database: Database, publication: Publication) -> None:
    """An intended publication has happened."""
    connection.execute(
        update(publications)
        .where(publications.c.run_id == publication.run_id)
        .values(state=PUBLISHED)
    )
    confirm_publication_records(connection, publication=publication.run_id)
    put_events(connection, database, publication.events)


def delete_intended(connection: Connection, database: Database, publication: Publication) -> None:  # noqa: ARG001 - as mark_published
    """An intended publication will not happen."""
    connection.execute(
        delete(publications).where(
            publications.c.run_id == publication.run_id, publications.c.state == INTENDED
        )
    )
    delete_publication_records(connection, publication=publication.run_id)


def published(database: Database, run_id: str) -> Publication | None:
    """What a run has published; None if nothing."""
    query = select(publications).where(
        publications.c.run_id == run_id, publications.c.state == PUBLISHED
    )
    with database.reading() as connection:
        row = connection.execute(query).first()
    return Publication(row.run_id, _moves(row.moves)) if row else None


def oldest_publication(database: Database) -> datetime | None:
    """When the first publication happened that is still on record."""
    query = select(func.min(publications.c.at)).where(publications.c.state == PUBLISHED)
    with database.reading() as connection:
        at = connection.execute(query).scalar()
    return None if at is None else datetime.fromtimestamp(at, UTC)


def delete_publications(database: Database, *, before: datetime) -> int:
    """Purge what was published before a time, a part in each transaction so that no writer waits
    long. What is only intended stays, however old.
    """
    count = 0
    while purged := _purge_some(database, before.timestamp()):
        count += purged
    return count


def _purge_some(database: Database, before: float) -> int:
    """Rows are locked first: one that becomes published meanwhile must not go unseen."""
    old = (publications.c.state == PUBLISHED, publications.c.at < before)
    query = select(publications.c.run_id).where(*old).limit(_AT_ONCE).with_for_update()
    with database.writing() as connection:
        purged = connection.execute(query).scalars().all()
        if purged:
            keep_times_of(connection, purged)
            connection.execute(delete(publications).where(publications.c.run_id.in_(purged)))
    return len(purged)


def abandoned(database: Database, *, own: str | None) -> tuple[Publication, ...]:
    """Publications begun and not finished, oldest first: of runs that lost a lease, and of the
    `own` run.

    One lost lease is enough: its new holder must not work on a table that a dead run is about to
    publish.
    """
    query = select(publications).where(publications.c.state == INTENDED).order_by(publications.c.at)
    with database.reading() as connection:
        rows = connection.execute(query).all()
    store = DatabaseLeases(database)
    return tuple(
        Publication(row.run_id, _moves(row.moves))
        for row in rows
        if row.run_id == own or not store.are_held(leases_from_text(row.leases))
    )


def _as_text(publication: Publication) -> str:
    return json.dumps([asdict(move) | _names(move) for move in publication.moves])


def _names(move: RefMove) -> dict[str, str | None]:
    return {"table": str(move.table), "becomes": str(move.becomes) if move.becomes else None}


def _moves(text: str) -> tuple[RefMove, ...]:
    return tuple(_move(move) for move in json.loads(text))


def _move(move: dict[str, Any]) -> RefMove:
    becomes, columns = move.get("becomes"), move.get("columns")
    return RefMove(
        **move
        | {
            "table": TableName.parse(move["table"]),
            "becomes": TableName.parse(becomes) if becomes else None,
            "columns": tuple(columns) if columns is not None else None,
            "renames": tuple((old, new) for old, new in move.get("renames", ())),
        }
    )
