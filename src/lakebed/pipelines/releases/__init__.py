"""Releases: immutable versions of a pipeline's files, saved drafts, and what becomes of them."""

from lakebed.pipelines.releases.check import check_release, known_columns
from lakebed.pipelines.releases.content import OBJECTS, fetch, object_path
from lakebed.pipelines.releases.diff import Changes, compare, in_short
from lakebed.pipelines.releases.load import Released, draft_tables, load_released, other_readers, read_release
from lakebed.pipelines.releases.plan import Kept, ReleaseReaping, plan_release_reaping, versions_to_drop
from lakebed.pipelines.releases.reap import Reaped, reap_releases
from lakebed.pipelines.releases.run import (
    Made,
    RestoredDraft,
    delete_draft,
    find_version,
    make_release,
    restore_draft,
    roll_back,
    save_draft,
    save_drafts,
)

__all__ = [
    "OBJECTS",
    "Changes",
    "Kept",
    "Made",
    "Reaped",
    "ReleaseReaping",
    "Released",
    "RestoredDraft",
    "check_release",
    "compare",
    "delete_draft",
    "draft_tables",
    "fetch",
    "find_version",
    "in_short",
    "known_columns",
    "load_released",
    "make_release",
    "object_path",
    "other_readers",
    "plan_release_reaping",
    "read_release",
    "reap_releases",
    "restore_draft",
    "roll_back",
    "save_draft",
    "save_drafts",
    "versions_to_drop",
]
