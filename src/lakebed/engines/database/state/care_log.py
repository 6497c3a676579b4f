"""The care log, as rows."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, delete, insert, select

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import care
from lakebed.ports import CareEntry


class DatabaseCareLog:
    """What maintenance did."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, entry: CareEntry) -> None:
        document = {
            key: value
            for key, value in asdict(entry).items()
            if key not in ("action", "subject", "at")
        }
        values = {
            "action": entry.action,
            "subject": entry.subject[:600],
            "at": entry.at.timestamp(),
        }
        with self._database.writing(guarded=False) as connection:  # refusals are noted, too
            connection.execute(
                insert(care).values(**values, document=json.dumps(document, default=dict))
            )

    def entries(
        self, *, subject: str | None = None, action: str | None = None, limit: int = 50
    ) -> tuple[CareEntry, ...]:
        query = select(care).order_by(care.c.number.desc()).limit(limit)
        for column, value in ((care.c.subject, subject), (care.c.action, action)):
            query = query.where(column == value) if value else query
        with self._database.reading() as connection:
            return tuple(_entry(row) for row in connection.execute(query))

    def delete(self, *, before: datetime) -> int:
        with self._database.writing() as connection:
            return connection.execute(delete(care).where(care.c.at < before.timestamp())).rowcount


def _entry(row: Row[Any]) -> CareEntry:
    return CareEntry(
        row.action, row.subject, at=datetime.fromtimestamp(row.at, UTC), **json.loads(row.document)
    )
