"""What is removed: versions over the limit, drafts and deleted pipelines past their age,
unreferenced content. Pure.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lakebed.names import TableName
from lakebed.ports import Draft, FileInfo, Release
from lakebed.settings import ReleaseSettings

YOUNG = timedelta(hours=24)  # younger content may belong to a row that is not written yet


@dataclass(frozen=True)
class ReleaseInventory:
    """Everything that is stored about releases, as of one moment."""

    releases: Sequence[Release]
    drafts: Sequence[Draft]
    deleted: Mapping[TableName, datetime]
    objects: Sequence[FileInfo]
    present: Collection[TableName] = ()  # deleted pipelines whose folders are back


@dataclass(frozen=True)
class ReapPlan:
    """What is to be removed."""

    drafts: tuple[Draft, ...] = ()
    pipelines: Mapping[TableName, datetime] = field(
        default_factory=dict
    )  # with the time they were deleted
    releases: tuple[Release, ...] = ()  # the releases of these pipelines
    objects: tuple[FileInfo, ...] = ()
    returned: tuple[TableName, ...] = ()  # no longer deleted


def versions_to_drop(versions: Iterable[int], limit: int) -> tuple[int, ...]:
    """The oldest versions beyond the limit; the newest one always stays."""
    return tuple(sorted(versions, reverse=True)[max(limit, 1) :])


def plan_reaping(kept: ReleaseInventory, settings: ReleaseSettings, *, now: datetime) -> ReapPlan:
    """What is past its age. Releases are removed only with a deleted pipeline."""
    limit = now - timedelta(days=settings.soft_delete_purge_days)
    returned = tuple(table for table in kept.deleted if table in kept.present)
    gone = {
        table: at for table, at in kept.deleted.items() if at < limit and table not in kept.present
    }
    releases = [release for release in kept.releases if release.table not in gone]
    drafts = [draft for draft in kept.drafts if draft.table not in gone]
    expired = tuple(_expired(drafts, kept.deleted, settings, now))
    forgotten = set(map(id, expired))
    staying = [draft for draft in drafts if id(draft) not in forgotten]
    return ReapPlan(
        drafts=expired,
        pipelines=gone,
        releases=tuple(release for release in kept.releases if release.table in gone),
        objects=unreferenced(kept.objects, referenced(releases) | referenced(staying), now=now),
        returned=returned,
    )


def _expired(
    drafts: Sequence[Draft],
    deleted: Collection[TableName],
    settings: ReleaseSettings,
    now: datetime,
) -> Iterator[Draft]:
    """Drafts past their age, except the last draft of a deleted pipeline, from which it can be
    restored.
    """
    last = {
        draft.table: draft
        for draft in sorted(drafts, key=lambda draft: draft.at)
        if draft.table in deleted
    }
    limit = now - timedelta(days=settings.drafts_max_age_days)
    return (draft for draft in drafts if draft.at < limit and last.get(draft.table) is not draft)


def referenced(rows: Iterable[Release] | Iterable[Draft]) -> frozenset[str]:
    """The SHA-256 of all content that these rows refer to."""
    return frozenset(digest for row in rows for digest in row.files.values())


def unreferenced(
    objects: Iterable[FileInfo], needed: Collection[str], *, now: datetime
) -> tuple[FileInfo, ...]:
    """Content that nothing refers to and that is not young."""
    return tuple(
        found
        for found in objects
        if found.path.rpartition("/")[2] not in needed and found.modified < now - YOUNG
    )
