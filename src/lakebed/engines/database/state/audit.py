"""Rows that only a check of the lake reads: every pin, counts of the ledger, checksums of files."""

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TypeVar

from sqlalchemy import delete, func, insert, select

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import checksums, ledger, pins, runs
from lakebed.engines.database.state.records import RUNNING
from lakebed.names import TableName
from lakebed.ports import Checksum, PinRow

_AT_ONCE = 500
T = TypeVar("T")


class DatabaseAudit:
    """The lake's state as a check needs it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def database_fault(self) -> str:
        if not self._database.is_sqlite:
            return ""  # PostgreSQL checks its own pages
        with self._database.reading() as connection:
            said = str(connection.exec_driver_sql("pragma quick_check(1)").scalar())
        return "" if said == "ok" else said

    def pins(self) -> tuple[PinRow, ...]:
        query = select(pins, runs.c.state).join(runs, runs.c.run_id == pins.c.run_id, isouter=True)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(pins.c.run_id)).all()
        return tuple(
            PinRow(row.run_id, TableName.parse(row.table_name), row.snapshot, row.state == RUNNING)
            for row in rows
        )

    def consumed_counts(self) -> dict[TableName, int]:
        query = select(ledger.c.table_name, func.count().label("files")).group_by(
            ledger.c.table_name
        )
        with self._database.reading() as connection:
            return {TableName.parse(row.table_name): row.files for row in connection.execute(query)}

    def checksums(self) -> dict[str, Checksum]:
        with self._database.reading() as connection:
            rows = connection.execute(select(checksums)).all()
        return {
            row.path: Checksum(row.path, row.sha256, row.size, datetime.fromtimestamp(row.at, UTC))
            for row in rows
        }

    def save_checksums(self, read: Sequence[Checksum]) -> None:
        for chunk in _chunks(read):
            values = [
                {"path": one.path, "sha256": one.sha256, "size": one.size, "at": one.at.timestamp()}
                for one in chunk
            ]
            with self._database.writing(guarded=False) as connection:
                connection.execute(
                    delete(checksums).where(checksums.c.path.in_([one.path for one in chunk]))
                )
                connection.execute(insert(checksums), values)

    def delete_checksums(self, paths: Collection[str]) -> None:
        for chunk in _chunks(paths):
            with self._database.writing(guarded=False) as connection:
                connection.execute(delete(checksums).where(checksums.c.path.in_(chunk)))


def _chunks(items: Collection[T]) -> Iterator[list[T]]:
    rest = iter(items)
    while chunk := list(islice(rest, _AT_ONCE)):
        yield chunk
