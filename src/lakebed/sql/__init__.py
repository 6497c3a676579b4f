"""SQL that users wrote, read before it runs. Importing this does not import the parser."""

from lakebed.sql.change import Change, read_change
from lakebed.sql.check import Query, check_query
from lakebed.sql.gate import refuse_bare_count
from lakebed.sql.lineage import ColumnSource, column_lineage

__all__ = ["Change", "ColumnSource", "Query", "check_query", "column_lineage", "read_change", "refuse_bare_count"]
