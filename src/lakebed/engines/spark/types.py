"""Column types from Spark's own."""

from typing import TYPE_CHECKING

from lakebed.ports import Field
from lakebed.types import Array, ColumnType, Map, Struct, parse_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


def column_type(type_: "DataType") -> ColumnType:
    """The type of a Spark column; one that Lakebed does not know keeps Spark's text."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(type_, ArrayType):
        return Array(column_type(type_.elementType))
    if isinstance(type_, MapType):
        return Map(column_type(type_.keyType), column_type(type_.valueType))
    if isinstance(type_, StructType):
        return Struct(tuple((field.name, column_type(field.dataType)) for field in type_.fields))
    return parse_type(type_.simpleString(), strict=False)


def fields_of(frame: "DataFrame") -> tuple[Field, ...]:
    """The columns of a frame."""
    return tuple(
        Field(field.name, column_type(field.dataType).spark) for field in frame.schema.fields
    )
