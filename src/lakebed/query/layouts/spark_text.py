"""A table read through a layout, in Spark's SQL: pinned snapshots, and conditions that tell batches
apart. Pure text.
"""

from collections.abc import Sequence

from lakebed.batches.keys import BatchKey, KeyValues, condition, literal, read_label
from lakebed.derived.labels import batch_keys
from lakebed.names import spark_identifier
from lakebed.query.planning.plan import ChosenLayout, PinnedTable
from lakebed.tables import as_of_schema, at_snapshot


def layout_rows(source: PinnedTable, layout: ChosenLayout) -> str:
    """A query of the source's rows, with its columns in their order."""
    columns = ", ".join(spark_identifier(column.name) for column in source.columns)
    keys = batch_keys(source.columns, layout.batch_columns)
    place = at_snapshot(layout.pinned.table, layout.pinned.snapshot_id)
    mine = "" if layout.whole else _where(keys, layout.batches)
    found = [f"SELECT {columns} FROM {place}{mine}"]
    if layout.rest_batches:
        rest = _where(keys, layout.rest_batches)
        found.append(f"SELECT {columns} FROM {_rows_of(source)}{rest}")
    return " UNION ALL ".join(found)


def _rows_of(source: PinnedTable) -> str:
    place = at_snapshot(source.table, source.snapshot_id)
    shown = as_of_schema(source.metadata, source.snapshot, source.schema) if source.snapshot else ()
    return f"(SELECT {', '.join(shown)} FROM {place})" if shown else place


def _where(keys: Sequence[BatchKey], labels: Sequence[str]) -> str:
    """True for the rows of these batches and no others; NULL is a value of its own."""
    if not keys:
        return "" if labels else " WHERE FALSE"
    if not labels:
        return " WHERE FALSE"
    batches = [read_label(label, keys) for label in labels]
    if len(keys) == 1:
        return f" WHERE {_one_of(keys[0], batches)}"
    return f" WHERE {' OR '.join(f'({condition(keys, values)})' for values in batches)}"


def _one_of(key: BatchKey, batches: Sequence[KeyValues]) -> str:
    name = spark_identifier(key.name)
    values = [literal(value, key.type) for (value,) in batches if value is not None]
    found = [f"{name} IN ({', '.join(values)})"] if values else []
    found += [f"{name} IS NULL"] if len(values) < len(batches) else []
    return " OR ".join(found)
