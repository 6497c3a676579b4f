"""DuckDB in this process: queries over the lake's files, and small work of pipelines."""

from lakebed.engines.duckdb.queries import DuckSessions
from lakebed.engines.duckdb.s3_secret import s3_secret
from lakebed.engines.duckdb.workbench import DuckWorkbench

__all__ = ["DuckSessions", "DuckWorkbench", "s3_secret"]
