"""DuckDB in this process: queries over the lake's files, and small pipelines."""

from lakebed.engines.duckdb.engine import DuckEngine
from lakebed.engines.duckdb.s3_secret import BucketAccess, s3_secret
from lakebed.engines.duckdb.workbench import DuckWorkbench

__all__ = ["BucketAccess", "DuckEngine", "DuckWorkbench", "s3_secret"]
