"""What a commit records, as rows of the same transaction."""

from sqlalchemy import Connection, update

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import runs
from lakebed.engines.database.state.events import put_events
from lakebed.engines.database.state.ledger import (
    delete_publication_files,
    put_consumed,
    put_descents,
    set_file_state,
)
from lakebed.engines.database.state.records import RUNNING, SUCCESS, put_run
from lakebed.engines.database.state.run_documents import to_text
from lakebed.engines.database.state.zone_types import put_types
from lakebed.ports import ChangeRecords, PublicationRecords, RunRecord


def put_publication_records(
    connection: Connection, records: PublicationRecords, *, publication: str, done: bool
) -> None:
    """Store what a publication records. Until it is `done`, its runs count as running. A run that
    goes on after it stays running; until then its former record counts.
    """
    for record in records.runs:
        if record.state != RUNNING:
            state = SUCCESS if done else RUNNING
            put_run(connection, record, state=state, publication=publication)
        elif done:
            put_run(connection, record, state=RUNNING, publication=None)
        else:
            _intend_record(connection, record, publication)
    put_consumed(connection, records.consumed, publication=publication)
    for types in records.types:
        put_types(connection, types, run_id=publication)


def _intend_record(connection: Connection, record: RunRecord, publication: str) -> None:
    own = update(runs).where(runs.c.run_id == record.run_id)
    connection.execute(own.values(publication=publication, next_document=to_text(record)))


def confirm_publication_records(connection: Connection, *, publication: str) -> None:
    """The publication has happened: its runs succeeded, or go on with what it added to their
    records.
    """
    theirs, goes_on = runs.c.publication == publication, runs.c.next_document.is_not(None)
    connection.execute(update(runs).where(theirs, ~goes_on).values(state=SUCCESS))
    added = {"document": runs.c.next_document, "next_document": None, "publication": None}
    connection.execute(update(runs).where(theirs, goes_on).values(**added))


def delete_publication_records(connection: Connection, *, publication: str) -> None:
    """The publication will not happen: its files are waiting again."""
    delete_publication_files(connection, publication=publication)
    theirs = update(runs).where(runs.c.publication == publication)
    connection.execute(theirs.values(publication=None, next_document=None))


def put_change_records(connection: Connection, database: Database, records: ChangeRecords) -> None:
    """Store what a change records."""
    for change in records.file_states:
        set_file_state(connection, change)
    put_descents(connection, records.descents)
    put_events(connection, database, records.events)
