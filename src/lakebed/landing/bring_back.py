"""Bringing files back from `_processed/` to where they landed, after a rollback undid the runs that
read them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from lakebed.errors import FileExists, FileMissing, UsageError
from lakebed.landing.freeze import list_zone
from lakebed.landing.known import Same, archived_places, is_same
from lakebed.landing.plan import Move
from lakebed.names import ZoneName
from lakebed.ports import ConsumedFile, FileInfo, Files, MovedFile

_SHOWN = 3


def bring_back_files(files: Files, taken: Iterable[ConsumedFile]) -> Iterator[MovedFile]:
    """Move files back, one by one; files that were never archived stay where they are.

    Refused before any file is moved if one of them cannot be brought back.
    """
    by_zone: dict[ZoneName, list[ConsumedFile]] = {}
    for file in taken:
        by_zone.setdefault(file.zone, []).append(file)
    moves = [
        move
        for zone, wanted in by_zone.items()
        for move in plan_requeue(
            wanted,
            {info.path: info for info in list_zone(files, zone)},
            same=lambda info, row: is_same(files, info, row),
        )
    ]
    return (_brought_back(files, row, move) for row, move in moves)


def plan_requeue(
    wanted: Iterable[ConsumedFile], there: Mapping[str, FileInfo], *, same: Same
) -> tuple[tuple[ConsumedFile, Move], ...]:
    """Which files to move, and from where. Pure, except that `same` may read a file."""
    rows = list(wanted)
    away = {
        (row.path, row.etag): row
        for row in rows
        if row.path not in there or not same(there[row.path], row)
    }
    places = archived_places(rows, there)
    found = {
        key: there[places[key]]
        for key, row in away.items()
        if key in places and _unchanged(there[places[key]], row, same)
    }
    if gone := sorted(path for path, etag in away if (path, etag) not in found):
        raise UsageError(
            f"{len(gone)} files that undone runs had read are gone, {_listed(gone)} among them:"
            " they cannot be read again.",
            next="Put them back, or use --hold.",
        )
    if taken := sorted(path for path, _ in away if path in there):
        raise _in_the_way(taken)
    if several := sorted(
        path for path, count in Counter(path for path, _ in away).items() if count > 1
    ):
        what = (
            f"several files that undone runs had read were called {_listed(several)}: only one can"
            " be brought back."
        )
        raise UsageError(what, next="Use --hold.")
    return tuple(
        (away[key], Move(info.path, info.etag, key[0])) for key, info in sorted(found.items())
    )


def _unchanged(archived: FileInfo, row: ConsumedFile, same: Same) -> bool:
    return not row.archived or archived.etag == row.archived_etag or same(archived, row)


def _brought_back(files: Files, row: ConsumedFile, move: Move) -> MovedFile:
    try:
        there = files.move(move.path, move.to, etag=move.etag)
    except FileExists:
        raise _in_the_way([move.to]) from None
    except FileMissing:
        raise UsageError(
            f"{move.path} was moved or changed by another process just now.", next="Try again."
        ) from None
    return MovedFile(row.path, row.etag, there.path, there.etag)


def _in_the_way(paths: list[str]) -> UsageError:
    what = f"other files are where {_listed(paths)} would be brought back to."
    return UsageError(what, next="Rename them, or use --hold.")


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more
