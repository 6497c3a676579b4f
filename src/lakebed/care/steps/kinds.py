"""Every kind of step. A `match` on one of these unions ends in `assert_never`."""

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

UndoneStep = Refuse | LeaveAlone
# Steps that are carried out under the lease of their table.
LeasedStep = (
    CloseDeadRuns | RemoveBranches | DropLeftovers | FinishRemoval | ExpireSnapshots | PurgeDropped
    | CompactFiles | RewriteManifests
)  # fmt: skip
PurgeStep = PurgeFolders | PurgeLogs | PurgeEvents | PurgeRuns | ReapReleases
CareStep = (
    UndoneStep | LeasedStep | PurgeStep | RefreshLayouts | RemoveOrphans | PurgeProcessed
    | PurgeQuarantine
)  # fmt: skip
