"""DuckDB in this process: small work over the lake's tables."""

from lakebed.engines.duckdb.workbench import DuckWorkbench

__all__ = ["DuckWorkbench"]
