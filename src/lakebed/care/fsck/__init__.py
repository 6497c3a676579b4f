"""Checking a lake: catalog, files, pipelines and state against each other; mending what can be mended without loss."""

from lakebed.care.fsck.newer import Newer, newer
from lakebed.care.fsck.rebuild import Candidate, Rebuild, plan_rebuild
from lakebed.care.fsck.run import check, mend
from lakebed.care.fsck.services import Report, Tools, quiet
from lakebed.care.fsck.spec import SAMPLE, Checked, Finding, Mended, Pipelined, StoredContent

__all__ = [
    "SAMPLE",
    "Candidate",
    "Checked",
    "Finding",
    "Mended",
    "Newer",
    "Pipelined",
    "Rebuild",
    "Report",
    "StoredContent",
    "Tools",
    "check",
    "mend",
    "newer",
    "plan_rebuild",
    "quiet",
]
