"""Releases, drafts and deleted pipelines in memory."""

from collections.abc import Collection, Iterable
from datetime import datetime

from lakebed.errors import Conflict
from lakebed.names import TableName
from lakebed.ports import Draft, Release


class MemoryReleases:
    """They last as long as this object."""

    def __init__(self) -> None:
        self._releases: dict[tuple[TableName, int], Release] = {}
        self._drafts: dict[tuple[TableName, str], Draft] = {}
        self._deleted: dict[TableName, datetime] = {}

    def add(self, release: Release, *, drop: Collection[int] = ()) -> None:
        newest = self.versions(release.table)
        if release.version != (newest[0].version if newest else 0) + 1:
            raise Conflict(f"another process has released {release.table} meanwhile.")
        self._releases[release.table, release.version] = release
        self._releases = {
            key: one
            for key, one in self._releases.items()
            if key[0] != release.table or key[1] not in drop
        }
        self._deleted.pop(release.table, None)

    def versions(self, table: TableName) -> tuple[Release, ...]:
        return tuple(
            one for key, one in sorted(self._releases.items(), reverse=True) if key[0] == table
        )

    def newest(self) -> dict[TableName, Release]:
        return {one.table: one for _, one in sorted(self._releases.items())}

    def all(self) -> tuple[Release, ...]:
        return tuple(one for _, one in sorted(self._releases.items()))

    def save_draft(self, draft: Draft) -> None:
        self._drafts[draft.table, draft.digest] = draft
        self._deleted.pop(draft.table, None)

    def drafts(self, table: TableName | None = None) -> tuple[Draft, ...]:
        found = [draft for draft in self._drafts.values() if table in (None, draft.table)]
        return tuple(sorted(found, key=lambda draft: (-draft.at.timestamp(), draft.digest)))

    def delete_draft(self, draft: Draft) -> bool:
        known = self._drafts.get((draft.table, draft.digest))
        if known is None or known.at > draft.at:
            return False
        del self._drafts[draft.table, draft.digest]
        return True

    def mark_deleted(self, table: TableName, *, at: datetime) -> None:
        self._deleted[table] = at

    def mark_present(self, tables: Iterable[TableName]) -> None:
        for table in tables:
            self._deleted.pop(table, None)

    def deleted(self) -> dict[TableName, datetime]:
        return dict(sorted(self._deleted.items()))

    def purge(self, table: TableName, *, deleted_at: datetime) -> bool:
        if self._deleted.get(table, deleted_at.max.replace(tzinfo=deleted_at.tzinfo)) > deleted_at:
            return False
        del self._deleted[table]
        self._releases = {key: one for key, one in self._releases.items() if key[0] != table}
        self._drafts = {key: one for key, one in self._drafts.items() if key[0] != table}
        return True
