"""Releases and saved drafts of pipelines: which files they consist of."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lakebed.names import TableName


@dataclass(frozen=True)
class Release:
    """One version of a pipeline: an immutable list of its files.

    Versions count from 1 and are never reused.
    """

    table: TableName
    version: int
    digest: str
    at: datetime
    who: str
    message: str
    files: Mapping[str, str]  # path in the pipeline's folder → SHA-256 of the content


@dataclass(frozen=True)
class Draft:
    """A pipeline's files as they were when it was run, saved, released or replaced, last `at` this
    time.
    """

    table: TableName
    digest: str
    at: datetime
    files: Mapping[str, str]


class Releases(Protocol):
    """Lists of files by digest.

    The content itself is stored as files, before a row refers to it.
    """

    def add(self, release: Release, *, drop: Collection[int] = ()) -> None:
        """Add the next version and delete those in `drop`, in one step; `Conflict` if it is not the
        next one.
        """
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
        """Save a draft, replacing an earlier one of the same content."""
        ...

    def drafts(self, table: TableName | None = None) -> tuple[Draft, ...]:
        """Saved drafts, newest first: of one pipeline, or of all."""
        ...

    def delete_draft(self, draft: Draft) -> bool:
        """Delete a draft unless it was saved again since it was read; returns whether it was
        deleted.
        """
        ...

    def mark_deleted(self, table: TableName, *, at: datetime) -> None:
        """Record that this pipeline was deleted."""
        ...

    def mark_present(self, tables: Iterable[TableName]) -> None:
        """Record that these pipelines exist again."""
        ...

    def deleted(self) -> dict[TableName, datetime]:
        """The deleted pipelines, and when each was deleted."""
        ...

    def purge(self, table: TableName, *, deleted_at: datetime) -> bool:
        """Delete a pipeline's versions and drafts, unless it exists again; returns whether they
        were deleted.
        """
        ...
