"""The lake's tables without rows, for statements such as SHOW TABLES.

Pure text; nothing is read here.
"""

from collections.abc import Iterator, Sequence

from lakebed.engines.duckdb.sql.types import duckdb_type, text
from lakebed.engines.duckdb.sql.views import SetupPart
from lakebed.names import duckdb_identifier
from lakebed.ports import Column
from lakebed.query.planning.listings import ListedTable
from lakebed.query.planning.plan_tables import database_of
from lakebed.types import read_iceberg_type

_NO_TYPE = '"NULL"'  # for a type that DuckDB lacks, and for tables whose columns are not needed


def listing_part(tables: Sequence[ListedTable]) -> SetupPart:
    """Sets up a DuckDB with these tables and nothing else.

    Its own database stays only if the lake is empty.
    """
    return SetupPart(("listing",), ";\n".join(_statements(tables)) or "SELECT 1")


def _statements(tables: Sequence[ListedTable]) -> Iterator[str]:
    databases = dict.fromkeys(_database(table) for table in tables)
    schemas = dict.fromkeys(_schema(table) for table in tables)
    yield from (f"ATTACH IF NOT EXISTS ':memory:' AS {database}" for database in databases)
    yield from (f"CREATE SCHEMA IF NOT EXISTS {schema}" for schema in schemas)
    for table in tables:
        yield from _table(table)
    if schemas:
        # SHOW TABLES lists what can be named without a schema
        yield f"SET search_path = {text(','.join(schemas))}"
        yield "DETACH memory"


def _table(table: ListedTable) -> Iterator[str]:
    name = f"{_schema(table)}.{duckdb_identifier(table.name.name)}"
    kind = "VIEW" if table.is_view else "TABLE"
    if table.is_view:
        columns = ", ".join(map(_shown, table.columns)) or f"NULL AS {duckdb_identifier('?')}"
        yield f"CREATE VIEW IF NOT EXISTS {name} AS SELECT {columns}"
    else:
        columns = ", ".join(map(_column, table.columns)) or f"{duckdb_identifier('?')} {_NO_TYPE}"
        yield f"CREATE TABLE IF NOT EXISTS {name} ({columns})"
    if table.comment:
        yield f"COMMENT ON {kind} {name} IS {text(table.comment)}"
    for column in table.columns:
        if column.doc and not table.is_view:
            yield f"COMMENT ON COLUMN {name}.{duckdb_identifier(column.name)} IS {text(column.doc)}"


def _shown(column: Column) -> str:
    return f"CAST(NULL AS {_type(column)}) AS {duckdb_identifier(column.name)}"


def _column(column: Column) -> str:
    required = " NOT NULL" if column.required else ""
    return f"{duckdb_identifier(column.name)} {_type(column)}{required}"


def _type(column: Column) -> str:
    return duckdb_type(read_iceberg_type(column.type)) or _NO_TYPE


def _database(table: ListedTable) -> str:
    return duckdb_identifier(database_of(table.name.namespace))


def _schema(table: ListedTable) -> str:
    # a foreign name may have two parts
    return f"{_database(table)}.{duckdb_identifier(table.name.layer or 'main')}"
