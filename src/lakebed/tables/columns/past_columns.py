"""A snapshot read with the columns of another schema, such as the current one. Pure."""

from lakebed.names import spark_identifier
from lakebed.ports import Column, Snapshot, TableMetadata
from lakebed.tables.statements import string_literal
from lakebed.types import read_iceberg_type


def as_of_schema(metadata: TableMetadata, snapshot: Snapshot, schema: int) -> tuple[str, ...]:
    """The expressions that select a schema's columns from a snapshot, matched by field id; none if
    it has that schema.

    Spark reads a snapshot with the columns it was written with. Columns added later are their
    default, or NULL.
    """
    if schema == metadata.schema_at(snapshot):
        return ()
    former = {column.id: column for column in metadata.columns_at(snapshot)}
    return tuple(
        f"{_value(column, former.get(column.id))} AS {spark_identifier(column.name)}"
        for column in metadata.columns_of(schema)
    )


def _value(column: Column, former: Column | None) -> str:
    if former is None:
        return f"CAST({_default(column)} AS {read_iceberg_type(column.type).spark})"
    name = spark_identifier(former.name)
    return (
        name
        if former.type == column.type or "<" in column.type
        else f"CAST({name} AS {read_iceberg_type(column.type).spark})"
    )


def _default(column: Column) -> str:
    match column.default:
        case None:
            return "NULL"
        case str(value) if column.type == "binary" or column.type.startswith("fixed["):
            return f"X'{value}'"
        case bool(value):
            return str(value).lower()
    return string_literal(str(column.default))
