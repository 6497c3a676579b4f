"""Records of runs and pins, as rows."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, func, insert, select, update

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import appending_zones, ledger, pins, runs
from lakebed.engines.database.state.events import put_events
from lakebed.engines.database.state.ledger import (
    PUBLISHED_AT,
    PUBLISHED_FILES,
    TAKEN,
    WAITING,
    consumed_file,
    descents_of,
    moving,
)
from lakebed.engines.database.state.run_documents import from_text, to_text
from lakebed.engines.database.state.zone_types import types_of
from lakebed.names import TableName, ZoneName
from lakebed.ports import (
    ConsumedFile,
    Descent,
    Event,
    InputPin,
    MovedFile,
    RunRecord,
    RunState,
    RunSummary,
)

SUCCESS, RUNNING = "success", "running"


class DatabaseRecords:
    """What runs did."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, record: RunRecord) -> None:
        with self._database.writing() as connection:
            put_run(connection, record, state=record.state, publication=None)

    def close(self, record: RunRecord, *events: Event) -> bool:
        open_ = runs.c.state != SUCCESS if record.state == SUCCESS else runs.c.state == RUNNING
        closing = update(runs).where(runs.c.run_id == record.run_id, open_)
        with self._database.writing() as connection:
            closed = connection.execute(
                closing.values(state=record.state, document=to_text(record))
            ).rowcount
            if closed:
                put_events(connection, self._database, events)
        return bool(closed)

    def run(self, run_id: str) -> RunRecord | None:
        with self._database.reading() as connection:
            row = connection.execute(
                select(runs.c.document, runs.c.state).where(runs.c.run_id == run_id)
            ).first()
        return from_text(row.document, state=row.state) if row else None

    def runs(
        self,
        *,
        table: TableName | None = None,
        invocation: str | None = None,
        state: RunState | None = None,
        limit: int = 50,
    ) -> tuple[RunRecord, ...]:
        query = (
            select(runs.c.document, runs.c.state)
            .order_by(runs.c.started.desc(), runs.c.run_id.desc())
            .limit(limit)
        )
        for column, value in (
            (runs.c.table_name, table and str(table)),
            (runs.c.invocation, invocation),
            (runs.c.state, state),
        ):
            query = query.where(column == value) if value else query
        with self._database.reading() as connection:
            return tuple(
                from_text(row.document, state=row.state) for row in connection.execute(query)
            )

    def summaries(self) -> tuple[RunSummary, ...]:
        known = select(runs.c.run_id, runs.c.table_name, runs.c.state, runs.c.started)
        with self._database.reading() as connection:
            rows = connection.execute(
                known.order_by(runs.c.started.desc(), runs.c.run_id.desc())
            ).all()
        return tuple(
            RunSummary(
                row.run_id,
                TableName.parse(row.table_name),
                row.state,
                datetime.fromtimestamp(row.started, UTC),
            )
            for row in rows
        )

    def last_digests(self) -> dict[TableName, str]:
        succeeded = select(runs.c.table_name, func.max(runs.c.started).label("newest")).where(
            runs.c.state == SUCCESS
        )
        last = succeeded.group_by(runs.c.table_name).subquery()
        same = and_(
            last.c.table_name == runs.c.table_name,
            last.c.newest == runs.c.started,
            runs.c.state == SUCCESS,
        )
        with self._database.reading() as connection:
            rows = connection.execute(
                select(runs.c.table_name, runs.c.document).join(last, same)
            ).all()
        return {
            TableName.parse(row.table_name): from_text(row.document, state=SUCCESS).release
            for row in rows
        }

    def consumed(
        self, zone: ZoneName, *, table: TableName | None = None
    ) -> tuple[ConsumedFile, ...]:
        """Files of publications that did not happen are left out."""
        query = PUBLISHED_FILES.where(ledger.c.zone == str(zone), ledger.c.state != WAITING)
        speaking: dict[tuple[TableName, str, str], ConsumedFile] = {}
        for file in self._files(query.where(ledger.c.table_name == str(table)) if table else query):
            known = speaking.get((file.table, file.path, file.etag))
            if known is None or known.state != TAKEN or file.state == TAKEN:
                speaking[file.table, file.path, file.etag] = file
        return tuple(speaking.values())

    def ledger(self, table: TableName) -> tuple[ConsumedFile, ...]:
        return self._files(PUBLISHED_FILES.where(ledger.c.table_name == str(table)))

    def descents(self, uuid: str) -> tuple[Descent, ...]:
        with self._database.reading() as connection:
            return descents_of(connection, uuid)

    def zone_types(self, zone: ZoneName) -> dict[str, dict[str, str]]:
        with self._database.reading() as connection:
            return types_of(connection, zone)

    def appends_replaced(self, zone: ZoneName) -> bool:
        asked = select(appending_zones.c.zone).where(appending_zones.c.zone == str(zone))
        with self._database.reading() as connection:
            return connection.execute(asked).first() is not None

    def _files(self, query: Select[Any]) -> tuple[ConsumedFile, ...]:
        with self._database.reading() as connection:
            return tuple(
                consumed_file(row)
                for row in connection.execute(query.order_by(PUBLISHED_AT, ledger.c.path))
            )

    def record_moves(self, moves: Iterable[MovedFile]) -> None:
        with self._database.writing() as connection:
            for moved in moves:
                connection.execute(moving(moved))

    def delete_runs(self, run_ids: Collection[str]) -> int:
        ended = (runs.c.run_id.in_(run_ids), runs.c.state != RUNNING)
        with self._database.writing() as connection:
            return connection.execute(delete(runs).where(*ended)).rowcount

    def pin(self, run_id: str, pinned: Sequence[InputPin]) -> None:
        rows = {(str(pin.table), pin.snapshot) for pin in pinned if pin.snapshot is not None}
        with self._database.writing() as connection:
            connection.execute(delete(pins).where(pins.c.run_id == run_id))
            if rows:
                named = [
                    {"run_id": run_id, "table_name": table, "snapshot": snapshot}
                    for table, snapshot in sorted(rows)
                ]
                connection.execute(insert(pins), named)

    def unpin(self, run_ids: Collection[str]) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(pins).where(pins.c.run_id.in_(run_ids)))

    def pinned(self) -> dict[TableName, frozenset[int]]:
        found: dict[TableName, frozenset[int]] = {}
        with self._database.reading() as connection:
            alive = (
                select(pins)
                .join(runs, runs.c.run_id == pins.c.run_id)
                .where(runs.c.state == RUNNING)
            )
            for row in connection.execute(alive):
                table = TableName.parse(row.table_name)
                found[table] = found.get(table, frozenset()) | {row.snapshot}
        return found


def put_run(
    connection: Connection, record: RunRecord, *, state: str, publication: str | None
) -> None:
    """Add or replace a run's record, in the caller's transaction; a successful run stays
    successful.
    """
    values = {
        "invocation": record.invocation,
        "table_name": str(record.table),
        "state": state,
        "started": record.started_at.timestamp(),
        "publication": publication,
        "document": to_text(record),
    }
    known = connection.execute(
        select(runs.c.state).where(runs.c.run_id == record.run_id).with_for_update()
    ).scalar()
    if known is None:
        connection.execute(insert(runs).values(run_id=record.run_id, **values))
    elif known != SUCCESS or state == SUCCESS:
        changed = {key: value for key, value in values.items() if value is not None}
        connection.execute(update(runs).where(runs.c.run_id == record.run_id).values(**changed))
