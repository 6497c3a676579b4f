"""Spark's types as text that can be read back: nested names quoted, nothing cut short."""

from typing import TYPE_CHECKING

from lakebed.names import spark_identifier

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


def ddl(type_: "DataType") -> str:
    """`decimal(12,2)`, `array<string>`, ``struct<`a b`:int>``."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(type_, ArrayType):
        return f"array<{ddl(type_.elementType)}>"
    if isinstance(type_, MapType):
        return f"map<{ddl(type_.keyType)},{ddl(type_.valueType)}>"
    if isinstance(type_, StructType):
        return "struct<" + ",".join(f"{spark_identifier(field.name)}:{ddl(field.dataType)}" for field in type_.fields) + ">"
    return type_.simpleString()
