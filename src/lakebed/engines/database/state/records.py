"""Records of runs, the ledger of landing files and the pins, as rows."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Select, Update, and_, delete, func, insert, select, tuple_, update

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import ledger, pins, publications, runs
from lakebed.engines.database.state.events import put_events
from lakebed.engines.database.state.run_documents import from_text, to_text
from lakebed.engines.database.state.zone_types import put_types, types_of
from lakebed.names import TableName, ZoneName
from lakebed.ports import Along, ConsumedFile, InputPin, MovedFile, RunRecord, RunState, RunSummary

SUCCESS, RUNNING, PUBLISHED, TAKEN, WAITING = "success", "running", "published", "taken", "waiting"
_AT_ONCE = 500
T = TypeVar("T")
_PUBLISHED = (publications.c.run_id == ledger.c.publication, publications.c.state == PUBLISHED)
_LEDGER = select(ledger, publications.c.at).join(publications, and_(*_PUBLISHED))


class DatabaseRecords:
    """The memory of a lake."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, record: RunRecord) -> None:
        with self._database.writing() as connection:
            _put(connection, record, state=record.state, publication=None)

    def run(self, run_id: str) -> RunRecord | None:
        with self._database.reading() as connection:
            row = connection.execute(select(runs.c.document, runs.c.state).where(runs.c.run_id == run_id)).first()
        return from_text(row.document, state=row.state) if row else None

    def runs(
        self, *, table: TableName | None = None, invocation: str | None = None, state: RunState | None = None, limit: int = 50
    ) -> tuple[RunRecord, ...]:
        query = select(runs.c.document, runs.c.state).order_by(runs.c.started.desc(), runs.c.run_id.desc()).limit(limit)
        for column, value in ((runs.c.table_name, table and str(table)), (runs.c.invocation, invocation), (runs.c.state, state)):
            query = query.where(column == value) if value else query
        with self._database.reading() as connection:
            return tuple(from_text(row.document, state=row.state) for row in connection.execute(query))

    def summaries(self) -> tuple[RunSummary, ...]:
        known = select(runs.c.run_id, runs.c.table_name, runs.c.state, runs.c.started)
        with self._database.reading() as connection:
            rows = connection.execute(known.order_by(runs.c.started.desc(), runs.c.run_id.desc())).all()
        return tuple(
            RunSummary(row.run_id, TableName.parse(row.table_name), row.state, datetime.fromtimestamp(row.started, UTC))
            for row in rows
        )

    def last_digests(self) -> dict[TableName, str]:
        succeeded = select(runs.c.table_name, func.max(runs.c.started).label("newest")).where(runs.c.state == SUCCESS)
        last = succeeded.group_by(runs.c.table_name).subquery()
        same = and_(last.c.table_name == runs.c.table_name, last.c.newest == runs.c.started, runs.c.state == SUCCESS)
        with self._database.reading() as connection:
            rows = connection.execute(select(runs.c.table_name, runs.c.document).join(last, same)).all()
        return {TableName.parse(row.table_name): from_text(row.document, state=SUCCESS).release for row in rows}

    def consumed(self, zone: ZoneName, *, table: TableName | None = None) -> tuple[ConsumedFile, ...]:
        """What a publication that did not come about took, is not among them."""
        query = _LEDGER.where(ledger.c.zone == str(zone), ledger.c.state != WAITING)
        speaking: dict[tuple[TableName, str, str], ConsumedFile] = {}
        for file in self._files(query.where(ledger.c.table_name == str(table)) if table else query):
            known = speaking.get((file.table, file.path, file.etag))
            if known is None or known.state != TAKEN or file.state == TAKEN:
                speaking[file.table, file.path, file.etag] = file
        return tuple(speaking.values())

    def ledger(self, table: TableName) -> tuple[ConsumedFile, ...]:
        return self._files(_LEDGER.where(ledger.c.table_name == str(table)))

    def zone_types(self, zone: ZoneName) -> dict[str, dict[str, str]]:
        with self._database.reading() as connection:
            return types_of(connection, zone)

    def _files(self, query: Select[Any]) -> tuple[ConsumedFile, ...]:
        with self._database.reading() as connection:
            return tuple(_file(row) for row in connection.execute(query.order_by(publications.c.at, ledger.c.path)))

    def record_moves(self, sightings: Iterable[MovedFile]) -> None:
        with self._database.writing() as connection:
            for seen in sightings:
                connection.execute(_sighted(seen))

    def delete_runs(self, run_ids: Collection[str]) -> int:
        ended = (runs.c.run_id.in_(run_ids), runs.c.state != RUNNING)
        with self._database.writing() as connection:
            return connection.execute(delete(runs).where(*ended)).rowcount

    def pin(self, run_id: str, pinned: Sequence[InputPin]) -> None:
        rows = {(str(pin.table), pin.snapshot) for pin in pinned if pin.snapshot is not None}
        with self._database.writing() as connection:
            connection.execute(delete(pins).where(pins.c.run_id == run_id))
            if rows:
                named = [{"run_id": run_id, "table_name": table, "snapshot": snapshot} for table, snapshot in sorted(rows)]
                connection.execute(insert(pins), named)

    def unpin(self, run_ids: Collection[str]) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(pins).where(pins.c.run_id.in_(run_ids)))

    def pinned(self) -> dict[TableName, frozenset[int]]:
        found: dict[TableName, frozenset[int]] = {}
        with self._database.reading() as connection:
            alive = select(pins).join(runs, runs.c.run_id == pins.c.run_id).where(runs.c.state == RUNNING)
            for row in connection.execute(alive):
                table = TableName.parse(row.table_name)
                found[table] = found.get(table, frozenset()) | {row.snapshot}
        return found


def put_along(connection: Connection, along: Along, *, publication: str, done: bool) -> None:
    """Write what goes along with a publication; not yet `done`, its runs are still running and its files not yet taken."""
    for record in along.runs:
        _put(connection, record, state=SUCCESS if done else RUNNING, publication=publication)
    for chunk in _chunks(along.consumed):
        keys = [(str(file.table), file.path, file.etag, file.run_id) for file in chunk]
        same = tuple_(ledger.c.table_name, ledger.c.path, ledger.c.etag, ledger.c.run_id)
        connection.execute(delete(ledger).where(same.in_(keys)))
        connection.execute(insert(ledger), [_row(file, publication) for file in chunk])
    for learned in along.types:
        put_types(connection, learned, run_id=publication)


def move_ledger(connection: Connection, table: TableName, to: TableName) -> None:
    """A table goes by another name: the files it has taken are taken by that."""
    connection.execute(update(ledger).where(ledger.c.table_name == str(table)).values(table_name=str(to)))


def forget_ledger(connection: Connection, table: TableName) -> None:
    """A table is gone for good, and so is the memory of what it took."""
    connection.execute(delete(ledger).where(ledger.c.table_name == str(table)))


def put_books(connection: Connection, database: Database, along: Along) -> None:
    """Write what goes along with a change that is no publication: records, what becomes of files, what happened."""
    for record in along.runs:
        _put(connection, record, state=record.state, publication=None)
    for undoing in along.file_states:
        for chunk in _chunks(undoing.files):
            theirs = (ledger.c.table_name == str(undoing.table), tuple_(ledger.c.path, ledger.c.run_id).in_(chunk))
            connection.execute(update(ledger).where(*theirs).values(state=undoing.state))
    put_events(connection, database, along.events)


def confirm_along(connection: Connection, *, publication: str) -> None:
    """The publication has happened: its runs succeeded."""
    connection.execute(update(runs).where(runs.c.publication == publication).values(state=SUCCESS))


def forget_along(connection: Connection, *, publication: str) -> None:
    """The publication will not happen: its files wait again."""
    connection.execute(delete(ledger).where(ledger.c.publication == publication))
    connection.execute(update(runs).where(runs.c.publication == publication).values(publication=None))


def _put(connection: Connection, record: RunRecord, *, state: str, publication: str | None) -> None:
    values = {
        "invocation": record.invocation,
        "table_name": str(record.table),
        "state": state,
        "started": record.started_at.timestamp(),
        "publication": publication,
        "document": to_text(record),
    }
    known = connection.execute(select(runs.c.state).where(runs.c.run_id == record.run_id).with_for_update()).scalar()
    if known is None:
        connection.execute(insert(runs).values(run_id=record.run_id, **values))
    elif known != SUCCESS or state == SUCCESS:
        changed = {key: value for key, value in values.items() if value is not None}
        connection.execute(update(runs).where(runs.c.run_id == record.run_id).values(**changed))


def _sighted(seen: MovedFile) -> Update:
    theirs = update(ledger).where(ledger.c.path == seen.path, ledger.c.etag == seen.etag)
    if seen.new_path != seen.path:
        return theirs.values(archived=seen.new_path, archived_etag=seen.new_etag)
    if seen.new_etag != seen.etag:
        other = ledger.alias()
        same_run = (other.c.table_name == ledger.c.table_name, other.c.path == ledger.c.path, other.c.run_id == ledger.c.run_id)
        theirs = theirs.where(~select(other.c.run_id).where(*same_run, other.c.etag == seen.new_etag).exists())
    return theirs.values(etag=seen.new_etag, archived=None, archived_etag=None)


def _row(file: ConsumedFile, publication: str) -> dict[str, str | int | None]:
    return {
        "table_name": str(file.table),
        "path": file.path,
        "etag": file.etag,
        "zone": str(file.zone),
        "size": file.size,
        "run_id": file.run_id,
        "publication": publication,
        "state": file.state,
        "digest": file.digest or None,
        "archived": file.archived or None,
        "archived_etag": file.archived_etag or None,
    }


def _file(row: Row[Any]) -> ConsumedFile:
    return ConsumedFile(
        TableName.parse(row.table_name),
        ZoneName(*row.zone.split(".")),
        row.path,
        row.etag,
        row.size,
        row.run_id,
        row.state,
        digest=row.digest or "",
        archived=row.archived or "",
        archived_etag=row.archived_etag or "",
        taken_at=row.at,
    )


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))
