"""Tables: publishing what a branch holds, and the leases under which it is done."""

from lakebed.tables.lease import Held, hold
from lakebed.tables.plan import Ask, Settlement, plan_publication, plan_settlement
from lakebed.tables.run import publish, settle_divided
from lakebed.tables.statements import COMMIT_RETRIES, create_branch, create_table, on_branch, write_properties

__all__ = [
    "COMMIT_RETRIES",
    "Ask",
    "Held",
    "Settlement",
    "create_branch",
    "create_table",
    "hold",
    "on_branch",
    "plan_publication",
    "plan_settlement",
    "publish",
    "settle_divided",
    "write_properties",
]
