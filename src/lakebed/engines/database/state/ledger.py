"""The ledger of landing files, as rows."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Update, delete, func, insert, or_, select, tuple_, update

from lakebed.engines.database.schema import descents, ledger, publications
from lakebed.names import TableName, ZoneName
from lakebed.ports import ConsumedFile, Descent, DroppedTable, FileStateChange, MovedFile

PUBLISHED, TAKEN, WAITING = "published", "taken", "waiting"
_AT_ONCE = 500
T = TypeVar("T")
# of a publication that was purged, the file's own row says when it was
PUBLISHED_AT = func.coalesce(ledger.c.published, publications.c.at).label("at")
PUBLISHED_FILES = (
    select(ledger, PUBLISHED_AT)
    .outerjoin(publications, publications.c.run_id == ledger.c.publication)
    .where(or_(ledger.c.published.is_not(None), publications.c.state == PUBLISHED))
)


def put_consumed(
    connection: Connection, files: Sequence[ConsumedFile], *, publication: str
) -> None:
    """Add files that a publication consumed; the same file of the same run is replaced."""
    for chunk in _chunks(files):
        keys = [(str(file.table), file.path, file.etag, file.run_id) for file in chunk]
        same = tuple_(ledger.c.table_name, ledger.c.path, ledger.c.etag, ledger.c.run_id)
        connection.execute(delete(ledger).where(same.in_(keys)))
        connection.execute(insert(ledger), [_row(file, publication) for file in chunk])


def delete_publication_files(connection: Connection, *, publication: str) -> None:
    """Remove the files of a publication that will not happen."""
    connection.execute(delete(ledger).where(ledger.c.publication == publication))


def keep_times_of(connection: Connection, purged: Sequence[str]) -> None:
    """Files of publications that are about to be purged keep the time at which they were published.

    The caller has locked the publications' rows.
    """
    at = select(publications.c.at).where(publications.c.run_id == ledger.c.publication)
    theirs = (ledger.c.publication.in_(purged), ledger.c.published.is_(None))
    connection.execute(update(ledger).where(*theirs).values(published=at.scalar_subquery()))


def set_file_state(connection: Connection, change: FileStateChange) -> None:
    """Give files of a table another state."""
    for chunk in _chunks(change.files):
        theirs = (
            ledger.c.table_name == str(change.table),
            tuple_(ledger.c.path, ledger.c.run_id).in_(chunk),
        )
        connection.execute(update(ledger).where(*theirs).values(state=change.state))


def put_descents(connection: Connection, given: Sequence[Descent]) -> None:
    """Add what snapshots were made from; what is known of the same snapshot is replaced."""
    for chunk in _chunks(given):
        keys = [(descent.uuid, descent.snapshot) for descent in chunk]
        same = tuple_(descents.c.uuid, descents.c.snapshot).in_(keys)
        connection.execute(delete(descents).where(same))
        connection.execute(insert(descents), [asdict(descent) for descent in chunk])


def descents_of(connection: Connection, uuid: str) -> tuple[Descent, ...]:
    """What is recorded of a table's snapshots, in the order of their ids."""
    rows = select(descents).where(descents.c.uuid == uuid).order_by(descents.c.snapshot)
    return tuple(
        Descent(row.uuid, row.snapshot, row.parent, row.run_id) for row in connection.execute(rows)
    )


def rename_in_ledger(connection: Connection, table: TableName, to: TableName) -> None:
    """Files consumed by a table belong to its new name."""
    connection.execute(
        update(ledger).where(ledger.c.table_name == str(table)).values(table_name=str(to))
    )


def delete_from_ledger(connection: Connection, dropped: DroppedTable) -> None:
    """Remove every file of a dropped table that is purged, and the descent of its snapshots."""
    name = str(dropped.hidden_name)
    connection.execute(delete(ledger).where(ledger.c.table_name == name))
    connection.execute(delete(descents).where(descents.c.uuid == dropped.uuid))


def moving(moved: MovedFile) -> Update:
    """The statement that stores where a file is now."""
    theirs = update(ledger).where(ledger.c.path == moved.path, ledger.c.etag == moved.etag)
    if moved.new_path != moved.path:
        return theirs.values(archived=moved.new_path, archived_etag=moved.new_etag)
    if moved.new_etag != moved.etag:
        other = ledger.alias()
        same_run = (
            other.c.table_name == ledger.c.table_name,
            other.c.path == ledger.c.path,
            other.c.run_id == ledger.c.run_id,
        )
        theirs = theirs.where(
            ~select(other.c.run_id).where(*same_run, other.c.etag == moved.new_etag).exists()
        )
    return theirs.values(etag=moved.new_etag, archived=None, archived_etag=None)


def consumed_file(row: Row[Any]) -> ConsumedFile:
    """The file that a row of `PUBLISHED_FILES` stands for."""
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
        snapshot=row.snapshot,
    )


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
        "snapshot": file.snapshot,
    }


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))
