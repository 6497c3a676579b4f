"""Publications as rows: what a run published, or means to publish."""

import json
from dataclasses import asdict

from sqlalchemy import Connection, delete, insert, select, update

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import publications
from lakebed.names import TableName
from lakebed.ports import Publication, RefMove

INTENDED, PUBLISHED = "intended", "published"


def record(connection: Connection, database: Database, publication: Publication, *, state: str) -> None:
    """Write the publication down, as part of the caller's transaction."""
    connection.execute(
        insert(publications).values(run_id=publication.run_id, state=state, moves=_as_text(publication), at=database.now())
    )


def mark_published(connection: Connection, publication: Publication) -> None:
    """An intended publication has happened."""
    connection.execute(update(publications).where(publications.c.run_id == publication.run_id).values(state=PUBLISHED))


def forget(connection: Connection, publication: Publication) -> None:
    """An intended publication will not happen."""
    connection.execute(delete(publications).where(publications.c.run_id == publication.run_id, publications.c.state == INTENDED))


def recorded(database: Database, *, state: str, run_id: str | None = None) -> tuple[Publication, ...]:
    """The publications in this state, oldest first; of one run if asked."""
    query = select(publications).where(publications.c.state == state).order_by(publications.c.at)
    if run_id is not None:
        query = query.where(publications.c.run_id == run_id)
    with database.reading() as connection:
        return tuple(Publication(row.run_id, _moves(row.moves)) for row in connection.execute(query))


def _as_text(publication: Publication) -> str:
    return json.dumps([asdict(move) | {"table": str(move.table)} for move in publication.moves])


def _moves(text: str) -> tuple[RefMove, ...]:
    return tuple(RefMove(**(move | {"table": TableName.parse(move["table"])})) for move in json.loads(text))
