"""Tables: publishing what a branch holds, and the leases under which it is done."""

from lakebed.tables.arrangement import (
    Arrangement,
    ArrangementChange,
    PartitionField,
    layout_of,
    layout_statements,
    ordering,
    partition_field,
    plan_layout,
    sort_field,
)
from lakebed.tables.columns.fitting import can_follow, may_lose, projected, selection
from lakebed.tables.columns.past_columns import as_of_schema
from lakebed.tables.columns.renames import Renames, backwards, renamed, renames_due, strategy_under, tangled
from lakebed.tables.columns.restoring import former_schema
from lakebed.tables.columns.schema import Policy, SchemaChange, alterations, kept, plan_schema, refuse_unfit_columns, removals
from lakebed.tables.columns.types import Array, Map, Plain, Struct, Type, is_known, read_type
from lakebed.tables.history.compare import compare
from lakebed.tables.history.diff import ColumnChange, ColumnFigures, Example, TableDiff
from lakebed.tables.history.points import find_point, stood_at
from lakebed.tables.history.rollback import Rollback, plan_rollback
from lakebed.tables.merging.first_batch import fresh_rows
from lakebed.tables.merging.keys import (
    key_check,
    offences,
    offending_keys,
    refuse_batch,
    refuse_columns,
    row_counts,
    statement_counts,
    tie_check,
)
from lakebed.tables.merging.matches import doubled_keys, match_check, refuse_doubled
from lakebed.tables.merging.merge import write_statement
from lakebed.tables.merging.owned_columns import likely_owned, owned_columns, refuse_strategy, stamp_of
from lakebed.tables.merging.strategies import ALIASES, STRATEGIES, Scd2, Strategy
from lakebed.tables.moved_lake import Strays, folder_of_metadata, refuse_astray
from lakebed.tables.placement import USED, TablePlacement
from lakebed.tables.publishing.lease import HeldLease, LeaseWait, hold
from lakebed.tables.publishing.plan import PublishRequest, Settlement, plan_publication, plan_settlement
from lakebed.tables.publishing.publish import amend, persistently, publish, settle_divided
from lakebed.tables.statements import (
    COMMIT_RETRIES,
    create_branch,
    create_table,
    on_branch,
    pinned,
    text,
    time_literal,
    write_properties,
)

__all__ = [
    "ALIASES",
    "COMMIT_RETRIES",
    "STRATEGIES",
    "USED",
    "Arrangement",
    "ArrangementChange",
    "Array",
    "ColumnChange",
    "ColumnFigures",
    "Example",
    "HeldLease",
    "LeaseWait",
    "Map",
    "PartitionField",
    "Plain",
    "Policy",
    "PublishRequest",
    "Renames",
    "Rollback",
    "Scd2",
    "SchemaChange",
    "Settlement",
    "Strategy",
    "Strays",
    "Struct",
    "TableDiff",
    "TablePlacement",
    "Type",
    "alterations",
    "amend",
    "as_of_schema",
    "backwards",
    "can_follow",
    "compare",
    "create_branch",
    "create_table",
    "doubled_keys",
    "find_point",
    "folder_of_metadata",
    "former_schema",
    "fresh_rows",
    "hold",
    "is_known",
    "kept",
    "key_check",
    "layout_of",
    "layout_statements",
    "likely_owned",
    "match_check",
    "may_lose",
    "offences",
    "offending_keys",
    "on_branch",
    "ordering",
    "owned_columns",
    "partition_field",
    "persistently",
    "pinned",
    "plan_layout",
    "plan_publication",
    "plan_rollback",
    "plan_schema",
    "plan_settlement",
    "projected",
    "publish",
    "read_type",
    "refuse_astray",
    "refuse_batch",
    "refuse_columns",
    "refuse_doubled",
    "refuse_strategy",
    "refuse_unfit_columns",
    "removals",
    "renamed",
    "renames_due",
    "row_counts",
    "selection",
    "settle_divided",
    "sort_field",
    "stamp_of",
    "statement_counts",
    "stood_at",
    "strategy_under",
    "tangled",
    "text",
    "tie_check",
    "time_literal",
    "write_properties",
    "write_statement",
]
