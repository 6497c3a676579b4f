"""Releases, saved drafts and deleted pipelines, as rows."""

import json
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import deleted_pipelines, drafts, releases
from lakebed.errors import Conflict
from lakebed.names import TableName
from lakebed.ports import Draft, Release


class DatabaseReleases:
    """Releases, drafts and deleted pipelines; the content itself is stored as files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, release: Release, *, drop: Collection[int] = ()) -> None:
        try:
            with self._database.writing() as connection:
                self._refuse_unless_next(connection, release)
                connection.execute(insert(releases).values(_release_row(release)))
                of_table = releases.c.table_name == str(release.table)
                connection.execute(delete(releases).where(of_table, releases.c.version.in_(drop)))
                _undelete(connection, [release.table])
        except IntegrityError:
            raise _overtaken(release) from None

    def _refuse_unless_next(self, connection: Connection, release: Release) -> None:
        newest = select(func.max(releases.c.version)).where(
            releases.c.table_name == str(release.table)
        )
        if release.version != (connection.execute(newest).scalar() or 0) + 1:
            raise _overtaken(release)

    def versions(self, table: TableName) -> tuple[Release, ...]:
        query = (
            select(releases)
            .where(releases.c.table_name == str(table))
            .order_by(releases.c.version.desc())
        )
        with self._database.reading() as connection:
            return tuple(_releases(connection.execute(query)))

    def newest(self) -> dict[TableName, Release]:
        highest = select(
            releases.c.table_name, func.max(releases.c.version).label("version")
        ).group_by(releases.c.table_name)
        last = highest.subquery()
        same = (last.c.table_name == releases.c.table_name) & (last.c.version == releases.c.version)
        with self._database.reading() as connection:
            found = connection.execute(
                select(releases).join(last, same).order_by(releases.c.table_name)
            )
            return {release.table: release for release in _releases(found)}

    def all(self) -> tuple[Release, ...]:
        query = select(releases).order_by(releases.c.table_name, releases.c.version)
        with self._database.reading() as connection:
            return tuple(_releases(connection.execute(query)))

    def save_draft(self, draft: Draft) -> None:
        values = {"at": draft.at.timestamp(), "files": json.dumps(dict(draft.files))}
        with self._database.writing() as connection:
            connection.execute(delete(drafts).where(*_same(draft)))
            connection.execute(
                insert(drafts).values(table_name=str(draft.table), digest=draft.digest, **values)
            )
            _undelete(connection, [draft.table])

    def drafts(self, table: TableName | None = None) -> tuple[Draft, ...]:
        query = select(drafts).order_by(drafts.c.at.desc(), drafts.c.digest)
        query = query.where(drafts.c.table_name == str(table)) if table else query
        with self._database.reading() as connection:
            return tuple(
                Draft(
                    TableName.parse(row.table_name),
                    row.digest,
                    _moment(row.at),
                    json.loads(row.files),
                )
                for row in connection.execute(query)
            )

    def delete_draft(self, draft: Draft) -> bool:
        unchanged = drafts.c.at <= draft.at.timestamp()
        with self._database.writing() as connection:
            return connection.execute(delete(drafts).where(*_same(draft), unchanged)).rowcount > 0

    def mark_deleted(self, table: TableName, *, at: datetime) -> None:
        with self._database.writing() as connection:
            _undelete(connection, [table])
            connection.execute(
                insert(deleted_pipelines).values(table_name=str(table), at=at.timestamp())
            )

    def mark_present(self, tables: Iterable[TableName]) -> None:
        with self._database.writing() as connection:
            _undelete(connection, tables)

    def deleted(self) -> dict[TableName, datetime]:
        with self._database.reading() as connection:
            rows = connection.execute(
                select(deleted_pipelines).order_by(deleted_pipelines.c.table_name)
            )
            return {TableName.parse(row.table_name): _moment(row.at) for row in rows}

    def purge(self, table: TableName, *, deleted_at: datetime) -> bool:
        with self._database.writing() as connection:
            mark = (
                deleted_pipelines.c.table_name == str(table),
                deleted_pipelines.c.at <= deleted_at.timestamp(),
            )
            if not connection.execute(delete(deleted_pipelines).where(*mark)).rowcount:
                return False
            for kept in (releases, drafts):
                connection.execute(delete(kept).where(kept.c.table_name == str(table)))
            return True


def _same(draft: Draft) -> tuple[Any, ...]:
    return drafts.c.table_name == str(draft.table), drafts.c.digest == draft.digest


def _undelete(connection: Connection, tables: Iterable[TableName]) -> None:
    connection.execute(
        delete(deleted_pipelines).where(deleted_pipelines.c.table_name.in_(list(map(str, tables))))
    )


def _release_row(release: Release) -> dict[str, Any]:
    return {
        "table_name": str(release.table),
        "version": release.version,
        "digest": release.digest,
        "at": release.at.timestamp(),
        "who": release.who[:255],
        "message": release.message,
        "files": json.dumps(dict(release.files)),
    }


def _releases(rows: Iterable[Row[Any]]) -> Iterator[Release]:
    for row in rows:
        table, at = TableName.parse(row.table_name), _moment(row.at)
        yield Release(
            table, row.version, row.digest, at, row.who, row.message, json.loads(row.files)
        )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _overtaken(release: Release) -> Conflict:
    return Conflict(
        f"another process has released {release.table} meanwhile: {release.version} is no longer"
        " its next version.",
        next=f"Look at it with: lakebed pipeline releases {release.table}, then release again.",
    )
