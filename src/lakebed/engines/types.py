"""The engines' own types, for annotations elsewhere.

Only ever imported by type checkers: it loads everything.
"""

from duckdb import DuckDBPyRelation as DuckRelation
from pyiceberg.catalog import Catalog as IcebergCatalog
from pyspark.sql import SparkSession

__all__ = ["DuckRelation", "IcebergCatalog", "SparkSession"]
