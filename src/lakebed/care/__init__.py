"""Care: what keeps a lake small and healthy. `plan.py` decides what is due, `run.py` does it."""

from lakebed.care.outcome import CareListener, CareResult, Done
from lakebed.care.pipeline_settings import read_own_care
from lakebed.care.plan import plan_care
from lakebed.care.run import care_after_commits, take_care
from lakebed.care.services import CareServices, Reaping, ZoneRules
from lakebed.care.spec import ACTIONS, Action, CareRequest, action_named
from lakebed.care.steps import CareStep

__all__ = [
    "ACTIONS",
    "Action",
    "CareListener",
    "CareRequest",
    "CareResult",
    "CareServices",
    "CareStep",
    "Done",
    "Reaping",
    "ZoneRules",
    "action_named",
    "care_after_commits",
    "plan_care",
    "read_own_care",
    "take_care",
]
