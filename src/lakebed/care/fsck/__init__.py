"""Checking a lake: catalog, files, pipelines and state against each other; repairing what can be
repaired without loss.
"""

from lakebed.care.fsck.ledger import LedgerReport, UnprovedFile
from lakebed.care.fsck.newer import Newer, newer
from lakebed.care.fsck.rebuild import Candidate, Rebuild, plan_rebuild
from lakebed.care.fsck.rebuilding import RebuildReport, rebuild_catalog
from lakebed.care.fsck.run import check, make_repairs, run_fsck
from lakebed.care.fsck.services import FsckServices, Report, quiet
from lakebed.care.fsck.spec import (
    SAMPLE,
    Finding,
    FsckReport,
    PipelineInventory,
    RepairOutcome,
    StoredContent,
)

__all__ = [
    "SAMPLE",
    "Candidate",
    "Finding",
    "FsckReport",
    "FsckServices",
    "LedgerReport",
    "Newer",
    "PipelineInventory",
    "Rebuild",
    "RebuildReport",
    "RepairOutcome",
    "Report",
    "StoredContent",
    "UnprovedFile",
    "check",
    "make_repairs",
    "newer",
    "plan_rebuild",
    "quiet",
    "rebuild_catalog",
    "run_fsck",
]
