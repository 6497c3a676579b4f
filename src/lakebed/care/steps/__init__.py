"""What care does, as frozen steps."""

from lakebed.care.steps.base import BaseCareStep
from lakebed.care.steps.files import (
    PurgeEvents,
    PurgeFolders,
    PurgeLogs,
    PurgeProcessed,
    PurgeQuarantine,
    PurgeRuns,
    ReapReleases,
    RemoveOrphans,
)
from lakebed.care.steps.kinds import CareStep, LeasedStep, PurgeStep, UndoneStep
from lakebed.care.steps.tables import (
    CloseDeadRuns,
    CompactFiles,
    DropLeftovers,
    ExpireSnapshots,
    FinishRemoval,
    LeaveAlone,
    PurgeDropped,
    RefreshLayouts,
    Refuse,
    RemoveBranches,
    RewriteManifests,
)

__all__ = [
    "BaseCareStep",
    "CareStep",
    "CloseDeadRuns",
    "CompactFiles",
    "DropLeftovers",
    "ExpireSnapshots",
    "FinishRemoval",
    "LeasedStep",
    "LeaveAlone",
    "PurgeDropped",
    "PurgeEvents",
    "PurgeFolders",
    "PurgeLogs",
    "PurgeProcessed",
    "PurgeQuarantine",
    "PurgeRuns",
    "PurgeStep",
    "ReapReleases",
    "RefreshLayouts",
    "Refuse",
    "RemoveBranches",
    "RemoveOrphans",
    "RewriteManifests",
    "UndoneStep",
]
