"""What we ask of a store of releases: which content a pipeline's versions and saved drafts consist of."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lakebed.names import TableName


@dataclass(frozen=True)
class Release:
    """One version of a pipeline: an immutable list of its files. Versions count from 1 and are never used again."""

    table: TableName
    version: int
    digest: str
    at: datetime
    who: str
    message: str
    files: Mapping[str, str]  # path in the pipeline's folder → SHA-256 of the content


@dataclass(frozen=True)
class Draft:
    """A pipeline's files as they were when somebody ran, saved, released or replaced them; `at` is the last such time."""

    table: TableName
    digest: str
    at: datetime
    files: Mapping[str, str]


class Releases(Protocol):
    """Rows about content; the content itself lies in files, and is there before a row speaks of it."""

    def add(self, release: Release, *, drop: Collection[int] = ()) -> None:
        """Write down the next version and forget those to `drop`, in one step; `Conflict` if it is not the next one."""
        ...

    def versions(self, table: TableName) -> tuple[Release, ...]:
        """All versions of a pipeline, newest first."""
        ...

    def newest(self) -> dict[TableName, Release]:
        """The newest version of every pipeline that has one."""
        ...

    def all(self) -> tuple[Release, ...]:
        """Every version of every pipeline."""
        ...

    def save_draft(self, draft: Draft) -> None:
        """Remember a draft, in place of an earlier one of the same content."""
        ...

    def drafts(self, table: TableName | None = None) -> tuple[Draft, ...]:
        """Saved drafts, newest first: of one pipeline, or of all."""
        ...

    def delete_draft(self, draft: Draft) -> bool:
        """Forget a draft, unless it was saved anew since it was read; returns whether it is gone."""
        ...

    def mark_deleted(self, table: TableName, *, at: datetime) -> None:
        """Remember that somebody deleted this pipeline."""
        ...

    def mark_present(self, tables: Iterable[TableName]) -> None:
        """These pipelines are there again."""
        ...

    def deleted(self) -> dict[TableName, datetime]:
        """The pipelines that were deleted, and when."""
        ...

    def purge(self, table: TableName, *, deleted_at: datetime) -> bool:
        """Forget a deleted pipeline with its versions and drafts, unless it is back; returns whether it is gone."""
        ...
