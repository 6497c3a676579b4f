"""Manual ALTERs. Spark commits the change by itself, so the event follows in a transaction of its
own; if the process dies in between, whoever looks next writes it.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from lakebed.errors import DamagedTable
from lakebed.names import TableName
from lakebed.ports import Catalog, Event, Leases, Pointer, Records, RunRecord, TableMetadata
from lakebed.tables.publishing.lease import is_held_by_run

_MANY = 1000
_DIED = {
    "what": "the process that ran it died.",
    "safe": "The table is unchanged.",
    "next": "Run the statement again.",
}


def altered_event(record: RunRecord) -> Event:
    """What followers are told of an ALTER."""
    detail = {"statement": record.message, "run": record.run_id}
    return Event("altered", record.table, detail=detail)


def settle_alters(
    catalog: Catalog, records: Records, leases: Leases, *, table: TableName | None = None
) -> tuple[RunRecord, ...]:
    """Close the records of ALTERs whose processes died, of one table or of all, and write the
    events of those that were committed; returns what was closed here.

    However many look at once, each event is written once.
    """
    return tuple(_settled(catalog, records, leases, table))


def _settled(
    catalog: Catalog, records: Records, leases: Leases, table: TableName | None
) -> Iterator[RunRecord]:
    for record in records.runs(table=table, state="running", limit=_MANY):
        if not record.altered_from or is_held_by_run(
            leases.holder(str(record.table)), record.run_id
        ):
            continue
        now = datetime.now(UTC)
        if _was_committed(record, catalog):
            done = replace(record, state="success", ended_at=now)
            closed = records.close(done, altered_event(done))
        else:
            done = replace(record, state="failed", ended_at=now, error=_DIED)
            closed = records.close(done)
        if closed:
            yield done


def _was_committed(record: RunRecord, catalog: Catalog) -> bool:
    """Whether more than rows has changed since. If a foreign writer has altered the table too, the
    two cannot be told apart: an event too many does no harm.
    """
    present = catalog.pointers([record.table]).get(record.table)
    if present is None or present.location == record.altered_from:
        return False
    try:
        now, then = (
            catalog.metadata([pointer])[record.table]
            for pointer in (present, Pointer(record.table, record.altered_from))
        )
    except DamagedTable:
        return True
    return _alterable(now) != _alterable(then)


def _alterable(metadata: TableMetadata) -> tuple[object, ...]:
    """What an ALTER can change, and a commit of rows does not."""
    return (
        metadata.format_version,
        metadata.schema,
        metadata.partition_by,
        metadata.sort_by,
        dict(metadata.properties),
    )
