"""SQL over a Kartothek dataset where it is: DuckDB computes, our reader leaves partitions out."""

from contextlib import suppress
from typing import Any

import pyarrow as pa

from lakebed.engines.arrow import storable_schema, table_type
from lakebed.engines.duckdb.engine import DuckEngine
from lakebed.engines.duckdb.rows import DuckRows, translated_errors
from lakebed.errors import LakebedError, UnknownName
from lakebed.kartothek import ReadPlan
from lakebed.kartothek.exchange.rows import DatasetRows
from lakebed.kartothek.history.versions import state_at
from lakebed.kartothek.noun import DatasetQuery
from lakebed.kartothek.predicates.from_sql import weaker_predicates
from lakebed.kartothek.reading.read import plan_state
from lakebed.kartothek.reading.states import load_schema, load_state, only_table
from lakebed.names import duckdb_identifier
from lakebed.ports import Column
from lakebed.query.parsing.conditions import finder, predicate_of
from lakebed.query.parsing.parse_nodes import Json, TableRead, folded
from lakebed.query.parsing.tree import mentioned_columns, table_reads
from lakebed.query.planning.plan import QueryPlan

_STREAM = "lakebed_rows"


def run_over_dataset(engine: DuckEngine, query: DatasetQuery, *, timezone: str) -> DuckRows:
    """Start a query; a dataset that it names more than once is read into DuckDB first."""
    session = engine.private_session()
    try:
        text, tree = session.parse(query.sql)
        reads = _reads(tree, query.dataset)
        plan = plan_dataset(query, reads, tree, timezone=timezone)
        connection, name = session.connection(), duckdb_identifier(query.dataset)
        with translated_errors(query.sql):
            connection.register(_STREAM, DatasetRows(query.files, plan).reader())
            # Not below the OFFSET: Arrow would filter there, to which NaN is not greater than 2.
            source = f"SELECT * FROM {_STREAM} OFFSET 0"
            kind = "VIEW" if len(reads) == 1 else "TABLE"
            connection.execute(f"CREATE TEMP {kind} {name} AS {source}")
            connection.execute(text)
        return DuckRows(connection, QueryPlan(query.sql, text, (), tree={}), session.close)
    except BaseException:
        session.close()
        raise


def plan_dataset(
    query: DatasetQuery, reads: tuple[TableRead, ...], tree: Json, *, timezone: str
) -> ReadPlan:
    """The partitions and columns that a query needs."""
    files, name = query.files, query.dataset
    state = load_state(files, name) if query.at is None else state_at(files, name, query.at)
    table = only_table(state, query.table)
    schema = load_schema(query.files, state, table)
    mentioned = mentioned_columns(tree)
    columns = [name for name in schema.names if mentioned.all or name.casefold() in mentioned.names]
    predicates = None
    if len(reads) == 1 and not reads[0].whole:
        find = finder(reads[0], {reads[0].byte: _columns(schema)})
        condition = predicate_of(reads[0].conditions, find, timezone=timezone)
        predicates = weaker_predicates(condition, {one.name: one.type for one in schema})
    return plan_state(
        query.files,
        state,
        table=table,
        columns=columns or schema.names[:1],
        predicates=predicates,
    )


def _reads(tree: Json, dataset: str) -> tuple[TableRead, ...]:
    found = table_reads(tree)
    for read in found:
        if len(read.parts) != 1 or folded(read.parts[0]) != folded(dataset):
            raise UnknownName("dataset in this query", ".".join(read.parts), [dataset])
    return found


def _columns(schema: Any) -> list[Column]:
    """The columns whose types tables have too: conditions on others leave out nothing."""
    found: list[Column] = []
    for field in schema:
        with suppress(LakebedError, KeyError):
            [one] = storable_schema(pa.schema([field]), {})
            found.append(Column(one.name, table_type(one.type).iceberg, required=False))
    return found
