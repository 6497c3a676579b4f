"""Releases: immutable versions of a pipeline's files, and saved drafts."""

from lakebed.pipelines.releases.check import check_release, columns_of_draft, known_columns
from lakebed.pipelines.releases.content import OBJECTS, fetch_content, object_path
from lakebed.pipelines.releases.diff import FileChanges, compare, summary_lines
from lakebed.pipelines.releases.load import (
    ReleasedPipelines,
    differing_counterparts,
    draft_tables,
    load_released,
    read_release,
)
from lakebed.pipelines.releases.plan import (
    ReapPlan,
    ReleaseInventory,
    plan_reaping,
    versions_to_drop,
)
from lakebed.pipelines.releases.reap import ReapResult, reap_releases
from lakebed.pipelines.releases.run import (
    ReleaseResult,
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
    "FileChanges",
    "ReapPlan",
    "ReapResult",
    "ReleaseInventory",
    "ReleaseResult",
    "ReleasedPipelines",
    "RestoredDraft",
    "check_release",
    "columns_of_draft",
    "compare",
    "delete_draft",
    "differing_counterparts",
    "draft_tables",
    "fetch_content",
    "find_version",
    "known_columns",
    "load_released",
    "make_release",
    "object_path",
    "plan_reaping",
    "read_release",
    "reap_releases",
    "restore_draft",
    "roll_back",
    "save_draft",
    "save_drafts",
    "summary_lines",
    "versions_to_drop",
]
