"""Tables: publishing what a branch holds, and the leases under which it is done."""

from lakebed.tables.fresh import fresh_rows
from lakebed.tables.keys import key_check, offences, offending_keys, refuse_batch, refuse_columns, row_counts, tie_check
from lakebed.tables.lease import Held, hold
from lakebed.tables.merge import write_statement
from lakebed.tables.place import Ground
from lakebed.tables.plan import Ask, Settlement, plan_publication, plan_settlement
from lakebed.tables.run import publish, settle_divided, tidy
from lakebed.tables.schema import Policy, SchemaChange, alterations, kept, plan_schema, refuse_unfit_columns
from lakebed.tables.statements import COMMIT_RETRIES, create_branch, create_table, on_branch, pinned, text, write_properties
from lakebed.tables.strategies import ALIASES, STRATEGIES, Strategy

__all__ = [
    "ALIASES",
    "COMMIT_RETRIES",
    "STRATEGIES",
    "Ask",
    "Ground",
    "Held",
    "Policy",
    "SchemaChange",
    "Settlement",
    "Strategy",
    "alterations",
    "create_branch",
    "create_table",
    "fresh_rows",
    "hold",
    "kept",
    "key_check",
    "offences",
    "offending_keys",
    "on_branch",
    "pinned",
    "plan_publication",
    "plan_schema",
    "plan_settlement",
    "publish",
    "refuse_batch",
    "refuse_columns",
    "refuse_unfit_columns",
    "row_counts",
    "settle_divided",
    "text",
    "tidy",
    "tie_check",
    "write_properties",
    "write_statement",
]
