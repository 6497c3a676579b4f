"""Arrow: the types of tables, and streams of rows."""

from lakebed.engines.arrow.columns import table_type
from lakebed.engines.arrow.frame_reader import frame_reader, unreadable_frame
from lakebed.engines.arrow.parquet import parquet_files
from lakebed.engines.arrow.storable_types import as_storable, storable_schema
from lakebed.engines.arrow.types import arrow_schema, cast_batches, combine_batches, is_narrow

__all__ = [
    "arrow_schema",
    "as_storable",
    "cast_batches",
    "combine_batches",
    "frame_reader",
    "is_narrow",
    "parquet_files",
    "storable_schema",
    "table_type",
    "unreadable_frame",
]
