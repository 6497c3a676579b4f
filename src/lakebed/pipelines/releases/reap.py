"""Removing what the plan says, safely even if a release is made at the same moment."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from lakebed.errors import FileMissing
from lakebed.names import TableName
from lakebed.pipelines.definition.load import is_source
from lakebed.pipelines.releases.content import OBJECTS
from lakebed.pipelines.releases.plan import ReleaseInventory, plan_reaping, referenced, unreferenced
from lakebed.ports import FileInfo, Files, Releases
from lakebed.settings import ReleaseSettings

_AT_ONCE = 50
_OBJECT = re.compile(rf"{re.escape(OBJECTS)}/(\w\w)/\1[0-9a-f]{{62}}")


@dataclass(frozen=True)
class ReapResult:
    """How much was removed, or would be."""

    drafts: int = 0
    pipelines: int = 0
    releases: int = 0
    objects: int = 0
    bytes: int = 0


def reap_releases(
    files: Files,
    releases: Releases,
    settings: ReleaseSettings,
    *,
    now: datetime,
    dry_run: bool = False,
) -> ReapResult:
    """Remove old drafts, purged pipelines, and content that nothing refers to.

    Can be repeated at any time.
    """
    plan = plan_reaping(take_inventory(files, releases), settings, now=now)
    if dry_run:
        size = sum(found.size for found in plan.objects)
        return ReapResult(
            len(plan.drafts), len(plan.pipelines), len(plan.releases), len(plan.objects), size
        )
    if plan.returned:
        releases.mark_present(plan.returned)
    drafts = sum(releases.delete_draft(draft) for draft in plan.drafts)
    purged = {table for table, at in plan.pipelines.items() if releases.purge(table, deleted_at=at)}
    versions = sum(release.table in purged for release in plan.releases)
    removed = [
        found for chunk in _chunks(plan.objects) for found in _remove(files, releases, chunk, now)
    ]
    return ReapResult(
        drafts, len(purged), versions, len(removed), sum(found.size for found in removed)
    )


def take_inventory(files: Files, releases: Releases) -> ReleaseInventory:
    """Everything that is stored now."""
    deleted = releases.deleted()
    objects = [found for found in files.list(OBJECTS) if _OBJECT.fullmatch(found.path)]
    present = [table for table in deleted if _is_back(files, table)]
    return ReleaseInventory(releases.all(), releases.drafts(), deleted, objects, present)


def _is_back(files: Files, table: TableName) -> bool:
    folder = f"{table.pipeline_folder}/"
    return any(is_source(found.path.removeprefix(folder)) for found in files.list(folder))


def _chunks(objects: Sequence[FileInfo]) -> Iterator[Sequence[FileInfo]]:
    return (objects[start : start + _AT_ONCE] for start in range(0, len(objects), _AT_ONCE))


def _remove(
    files: Files, releases: Releases, objects: Sequence[FileInfo], now: datetime
) -> Iterator[FileInfo]:
    """Remove these unless a row refers to them by now.

    If one appears during the removal, the content is put back.
    """
    taken: dict[str, tuple[FileInfo, bytes]] = {}
    for found in unreferenced(_as_they_are(files, objects), _needed(releases), now=now):
        with suppress(FileMissing):
            taken[found.path.rpartition("/")[2]] = found, files.read(found.path)
            files.delete(found.path)
    needed = _needed(releases)
    for digest, (found, data) in taken.items():
        if digest in needed:
            files.write(found.path, data)
        else:
            yield found


def _as_they_are(files: Files, objects: Sequence[FileInfo]) -> Iterator[FileInfo]:
    for found in objects:
        with suppress(FileMissing):
            yield files.info(found.path)


def _needed(releases: Releases) -> frozenset[str]:
    return referenced(releases.all()) | referenced(releases.drafts())
