"""Publications as rows: what a run published, or means to publish."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import Connection, delete, insert, select, update

from lakebed.engines.database.connect import Database
from lakebed.engines.database.leases import DatabaseLeases
from lakebed.engines.database.schema import publications
from lakebed.names import TableName
from lakebed.ports import Lease, Publication, RefMove

INTENDED, PUBLISHED = "intended", "published"


def record(
    connection: Connection, database: Database, publication: Publication, *, state: str, leases: Sequence[Lease] = ()
) -> None:
    """Write the publication down, as part of the caller's transaction."""
    held = json.dumps([asdict(lease) for lease in leases])
    values = {"run_id": publication.run_id, "state": state, "moves": _as_text(publication), "leases": held}
    connection.execute(insert(publications).values(**values, at=database.now()))


def mark_published(connection: Connection, publication: Publication) -> None:
    """An intended publication has happened."""
    connection.execute(update(publications).where(publications.c.run_id == publication.run_id).values(state=PUBLISHED))


def forget(connection: Connection, publication: Publication) -> None:
    """An intended publication will not happen."""
    connection.execute(delete(publications).where(publications.c.run_id == publication.run_id, publications.c.state == INTENDED))


def published(database: Database, run_id: str) -> Publication | None:
    """What a run has published, if it has."""
    query = select(publications).where(publications.c.run_id == run_id, publications.c.state == PUBLISHED)
    with database.reading() as connection:
        row = connection.execute(query).first()
    return Publication(row.run_id, _moves(row.moves)) if row else None


def abandoned(database: Database, *, own: str | None) -> tuple[Publication, ...]:
    """What was begun and not finished, oldest first, by runs that no longer hold their leases, and by the `own` run."""
    query = select(publications).where(publications.c.state == INTENDED).order_by(publications.c.at)
    with database.reading() as connection:
        rows = connection.execute(query).all()
    store = DatabaseLeases(database)
    return tuple(
        Publication(row.run_id, _moves(row.moves)) for row in rows if row.run_id == own or not _is_alive(row.leases, store)
    )


def _is_alive(leases: str, store: DatabaseLeases) -> bool:
    return any(store.holder(held["name"]) == Lease(**held) for held in json.loads(leases))


def _as_text(publication: Publication) -> str:
    return json.dumps([asdict(move) | {"table": str(move.table)} for move in publication.moves])


def _moves(text: str) -> tuple[RefMove, ...]:
    return tuple(RefMove(**(move | {"table": TableName.parse(move["table"])})) for move in json.loads(text))
