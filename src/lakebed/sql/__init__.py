"""SQL that users wrote, read before it runs. Importing this does not import the parser."""

from lakebed.sql.check import Query, check_query
from lakebed.sql.gate import refuse_bare_count
from lakebed.sql.lineage import ColumnSource, column_lineage

__all__ = ["ColumnSource", "Query", "check_query", "column_lineage", "refuse_bare_count"]
