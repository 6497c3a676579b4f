"""The ledger of consumed files, kept right for files that were moved or came back from a backup."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from lakebed.landing.bring_back import bring_back_files
from lakebed.landing.known import recognise_files
from lakebed.names import TableName, ZoneName
from lakebed.ports import ConsumedFile, FileInfo, Files, MovedFile, Records

_BATCH = 100


def known_files(
    zone: ZoneName,
    present: Iterable[FileInfo],
    files: Files,
    records: Records,
    *,
    table: TableName | None = None,
) -> tuple[ConsumedFile, ...]:
    """The files of a zone that a table has consumed, or any table.

    A file with a new etag is recognised by its content.
    """
    rows = records.consumed(zone, table=table)
    moved = recognise_files(files, present, rows)
    if not moved:
        return rows
    records.record_moves(moved)
    return records.consumed(zone, table=table)


def requeue_files(
    consumed: Sequence[ConsumedFile],
    files: Files,
    records: Records,
    *,
    on_move: Callable[[MovedFile], object],
) -> None:
    """Move archived files back into their zones, so that they are read again."""
    record_moves(_announced(bring_back_files(files, consumed), on_move), records)


def _announced(
    moves: Iterable[MovedFile], on_move: Callable[[MovedFile], object]
) -> Iterator[MovedFile]:
    for move in moves:
        on_move(move)
        yield move


def record_moves(moves: Iterable[MovedFile], records: Records) -> int:
    """Record moves as they are made, in batches, and count them.

    Moves made before an error are recorded too.
    """
    count, pending = 0, list[MovedFile]()
    try:
        for move in moves:
            count += 1
            pending.append(move)
            if len(pending) == _BATCH:
                records.record_moves(pending)
                pending = []
    finally:
        if pending:
            records.record_moves(pending)
    return count
