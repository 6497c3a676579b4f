"""What the ledger says of the files of a zone, kept true: files that were moved, and those that came back from a backup."""

from collections.abc import Iterable

from lakebed.landing import recognise_files
from lakebed.names import TableName, ZoneName
from lakebed.pipelines.services import RunServices
from lakebed.ports import ConsumedFile, FileInfo, MovedFile, Records

_AT_ONCE = 100


def known_files(
    zone: ZoneName, present: Iterable[FileInfo], services: RunServices, *, table: TableName | None = None
) -> tuple[ConsumedFile, ...]:
    """The files of a zone that a table has, or any table. Those present under another etag are recognised, once and for all."""
    rows = services.records.consumed(zone, table=table)
    seen = recognise_files(services.placement.files, present, rows)
    if not seen:
        return rows
    services.records.record_moves(seen)
    return services.records.consumed(zone, table=table)


def record_sightings(sightings: Iterable[MovedFile], records: Records) -> int:
    """Let files be moved one by one, and the ledger know where they lie; what was moved before an error too. Says how many."""
    count, pending = 0, list[MovedFile]()
    try:
        for seen in sightings:
            count += 1
            pending.append(seen)
            if len(pending) == _AT_ONCE:
                records.record_moves(pending)
                pending = []
    finally:
        if pending:
            records.record_moves(pending)
    return count
