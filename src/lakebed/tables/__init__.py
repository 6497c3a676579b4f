"""Tables: publishing what a branch holds, and the leases under which it is done."""

from lakebed.tables.arrangement import (
    Arrangement,
    ArrangementChange,
    PartitionField,
    arrangement_of,
    arrangement_statements,
    order_statement,
    parse_partition_field,
    parse_sort_field,
    plan_arrangement,
)
from lakebed.tables.columns.fitting import can_accept, may_lose_digits, projection, selection
from lakebed.tables.columns.past_columns import as_of_schema
from lakebed.tables.columns.renames import (
    Renames,
    apply_renames,
    inverse_renames,
    pending_renames,
    rename_conflict,
    rename_strategy_columns,
)
from lakebed.tables.columns.restoring import schema_to_restore
from lakebed.tables.columns.schema import (
    SchemaChange,
    SchemaPolicy,
    alter_statements,
    as_stored,
    drop_statements,
    plan_schema,
    require_storable_columns,
)
from lakebed.tables.following.changes import (
    TableChange,
    TableChangeKind,
    TableState,
    find_changes,
    states_after,
)
from lakebed.tables.following.follower import Follower, FollowerLook
from lakebed.tables.following.followers import Followers, FollowerSummary
from lakebed.tables.history.ages import superseded
from lakebed.tables.history.compare import compare
from lakebed.tables.history.diff import ColumnChange, ColumnFigures, Example, TableDiff
from lakebed.tables.history.points import find_point, published_snapshots
from lakebed.tables.history.protection import (
    SnapshotGuard,
    SnapshotRead,
    protect_reads,
    protect_snapshots,
    snapshot_read,
)
from lakebed.tables.history.rollback import Rollback, UndoneFiles, plan_rollback
from lakebed.tables.history.timeline import HistoryEntry, table_history
from lakebed.tables.merging.first_batch import first_batch_rows
from lakebed.tables.merging.integer_key import integer_key
from lakebed.tables.merging.keys import (
    key_check_query,
    merge_counts,
    offending_keys_query,
    require_strategy_columns,
    require_valid_keys,
    row_counts,
    statement_counts,
    tie_check_query,
    violations,
)
from lakebed.tables.merging.matches import (
    duplicate_keys_query,
    match_check_query,
    matched_once,
    merge_shows_duplicates,
    refuse_duplicate_keys,
)
from lakebed.tables.merging.merge import write_statement
from lakebed.tables.merging.overwrite import (
    OverwriteMerge,
    keys_elsewhere_query,
    outside_examples,
    outside_query,
    overwrite_merge,
    refuse_keys_elsewhere,
    refuse_outside,
)
from lakebed.tables.merging.owned_columns import (
    guess_owned_columns,
    own_columns_summary,
    owned_columns,
    require_compatible_strategy,
)
from lakebed.tables.merging.strategies import (
    ALIASES,
    STRATEGIES,
    TEMPLATE_WORDS,
    OverwriteWhere,
    ReplaceBatch,
    ReplaceRange,
    Strategy,
    template_answers,
)
from lakebed.tables.moved_lake import MovedTables, former_root, require_relocated, table_folder
from lakebed.tables.operations.alters import altered_event, settle_alters
from lakebed.tables.placement import USED_MARKER, TablePlacement
from lakebed.tables.publishing.clock import settle_times
from lakebed.tables.publishing.lease import HeldLease, LeaseWait, hold_lease, run_holder
from lakebed.tables.publishing.plan import (
    PublishRequest,
    Settlement,
    plan_publication,
    plan_settlement,
    require_columns,
)
from lakebed.tables.publishing.publish import amend, publish, settle_publications
from lakebed.tables.publishing.rebase import can_rebase
from lakebed.tables.services import TableServices
from lakebed.tables.statements import (
    COMMIT_RETRIES,
    at_snapshot,
    create_branch,
    create_table,
    on_branch,
    string_literal,
    time_literal,
    write_properties,
)
from lakebed.tables.tables import Tables

__all__ = [
    "ALIASES",
    "COMMIT_RETRIES",
    "STRATEGIES",
    "TEMPLATE_WORDS",
    "USED_MARKER",
    "Arrangement",
    "ArrangementChange",
    "ColumnChange",
    "ColumnFigures",
    "Example",
    "Follower",
    "FollowerLook",
    "FollowerSummary",
    "Followers",
    "HeldLease",
    "HistoryEntry",
    "LeaseWait",
    "MovedTables",
    "OverwriteMerge",
    "OverwriteWhere",
    "PartitionField",
    "PublishRequest",
    "Renames",
    "ReplaceBatch",
    "ReplaceRange",
    "Rollback",
    "SchemaChange",
    "SchemaPolicy",
    "Settlement",
    "SnapshotGuard",
    "SnapshotRead",
    "Strategy",
    "TableChange",
    "TableChangeKind",
    "TableDiff",
    "TablePlacement",
    "TableServices",
    "TableState",
    "Tables",
    "UndoneFiles",
    "alter_statements",
    "altered_event",
    "amend",
    "apply_renames",
    "arrangement_of",
    "arrangement_statements",
    "as_of_schema",
    "as_stored",
    "at_snapshot",
    "can_accept",
    "can_rebase",
    "compare",
    "create_branch",
    "create_table",
    "drop_statements",
    "duplicate_keys_query",
    "find_changes",
    "find_point",
    "first_batch_rows",
    "former_root",
    "guess_owned_columns",
    "hold_lease",
    "integer_key",
    "inverse_renames",
    "key_check_query",
    "keys_elsewhere_query",
    "match_check_query",
    "matched_once",
    "may_lose_digits",
    "merge_counts",
    "merge_shows_duplicates",
    "offending_keys_query",
    "on_branch",
    "order_statement",
    "outside_examples",
    "outside_query",
    "overwrite_merge",
    "own_columns_summary",
    "owned_columns",
    "parse_partition_field",
    "parse_sort_field",
    "pending_renames",
    "plan_arrangement",
    "plan_publication",
    "plan_rollback",
    "plan_schema",
    "plan_settlement",
    "projection",
    "protect_reads",
    "protect_snapshots",
    "publish",
    "published_snapshots",
    "refuse_duplicate_keys",
    "refuse_keys_elsewhere",
    "refuse_outside",
    "rename_conflict",
    "rename_strategy_columns",
    "require_columns",
    "require_compatible_strategy",
    "require_relocated",
    "require_storable_columns",
    "require_strategy_columns",
    "require_valid_keys",
    "row_counts",
    "run_holder",
    "schema_to_restore",
    "selection",
    "settle_alters",
    "settle_publications",
    "settle_times",
    "snapshot_read",
    "statement_counts",
    "states_after",
    "string_literal",
    "superseded",
    "table_folder",
    "table_history",
    "template_answers",
    "tie_check_query",
    "time_literal",
    "violations",
    "write_properties",
    "write_statement",
]
