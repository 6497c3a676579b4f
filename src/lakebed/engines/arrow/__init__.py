"""Arrow: the types of tables, and rows on their way."""

from lakebed.engines.arrow.columns import table_type
from lakebed.engines.arrow.kept import as_kept, kept_schema
from lakebed.engines.arrow.parquet import parquet_files
from lakebed.engines.arrow.sources import reader_of, unfit
from lakebed.engines.arrow.types import arrow_schema, as_schema, gathered, is_narrow

__all__ = [
    "arrow_schema",
    "as_kept",
    "as_schema",
    "gathered",
    "is_narrow",
    "kept_schema",
    "parquet_files",
    "reader_of",
    "table_type",
    "unfit",
]
