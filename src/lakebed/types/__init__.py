"""Column types: one representation, read from and spelt as Spark and Iceberg write them."""

from lakebed.types.column_type import (
    INTEGER_BITS,
    STRING,
    Array,
    ColumnType,
    Map,
    Primitive,
    Struct,
    with_parts,
)
from lakebed.types.decimals import decimal_of, fitted, unscaled_value
from lakebed.types.iceberg import read_iceberg_type
from lakebed.types.joining import extends, holds, join_types, kept_as
from lakebed.types.parsing import known_type, parse_type
from lakebed.types.sql_words import stored_type
from lakebed.types.storing import can_widen, exact_up_to, is_safe, is_storable, read_table_type

__all__ = [
    "INTEGER_BITS",
    "STRING",
    "Array",
    "ColumnType",
    "Map",
    "Primitive",
    "Struct",
    "can_widen",
    "decimal_of",
    "exact_up_to",
    "extends",
    "fitted",
    "holds",
    "is_safe",
    "is_storable",
    "join_types",
    "kept_as",
    "known_type",
    "parse_type",
    "read_iceberg_type",
    "read_table_type",
    "stored_type",
    "unscaled_value",
    "with_parts",
]
