"""Users' SQL, analysed before it runs. Importing this does not import the parser."""

from lakebed.sql.change import ChangeStatement, read_change
from lakebed.sql.checking.check import CheckedQuery, check_query
from lakebed.sql.checking.gate import refuse_bare_count
from lakebed.sql.condition import RowCondition, check_condition
from lakebed.sql.filtering import FilteringQuery, read_filtering
from lakebed.sql.lineage.lineage import ColumnSource, column_lineage
from lakebed.sql.lineage.passing import NOTHING_PASSED, PassedColumns, passed_columns
from lakebed.sql.lineage.whole import reads_every_row
from lakebed.sql.uniqueness import UniquenessQuery, read_uniqueness

__all__ = [
    "NOTHING_PASSED",
    "ChangeStatement",
    "CheckedQuery",
    "ColumnSource",
    "FilteringQuery",
    "PassedColumns",
    "RowCondition",
    "UniquenessQuery",
    "check_condition",
    "check_query",
    "column_lineage",
    "passed_columns",
    "read_change",
    "read_filtering",
    "read_uniqueness",
    "reads_every_row",
    "refuse_bare_count",
]
