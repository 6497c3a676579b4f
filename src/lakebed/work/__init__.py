"""Work as data: steps, plans, the one executor that carries them out, and the one way to retry."""

from lakebed.work.executor import Ended, Executor, recorded
from lakebed.work.listener import Listener, OnProgress
from lakebed.work.plan import Plan, Step
from lakebed.work.retry import ATTEMPTS, backoff, retry

__all__ = [
    "ATTEMPTS",
    "Ended",
    "Executor",
    "Listener",
    "OnProgress",
    "Plan",
    "Step",
    "backoff",
    "recorded",
    "retry",
]
