"""Files that a rollback makes wait again: brought back from `_processed/` to where they had landed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from lakebed.errors import FileExists, FileMissing, UsageError
from lakebed.landing.known import Same, archived_places, is_same
from lakebed.landing.plan import Move
from lakebed.names import ZoneName
from lakebed.ports import ConsumedFile, FileInfo, Files, MovedFile

_SHOWN = 3


def bring_back_files(files: Files, taken: Iterable[ConsumedFile]) -> Iterator[MovedFile]:
    """Bring files back, one by one; those that never left stay. Refused, before any is moved, where one cannot come back."""
    by_zone: dict[ZoneName, list[ConsumedFile]] = {}
    for file in taken:
        by_zone.setdefault(file.zone, []).append(file)
    moves = [
        move
        for zone, wanted in by_zone.items()
        for move in plan_requeue(
            wanted,
            {info.path: info for info in files.list(zone.folder)},
            same=lambda info, row: is_same(files, info, row),
        )
    ]
    return (_brought_back(files, row, move) for row, move in moves)


def plan_requeue(
    wanted: Iterable[ConsumedFile], there: Mapping[str, FileInfo], *, same: Same
) -> tuple[tuple[ConsumedFile, Move], ...]:
    """Which files have to be moved, and from where. Pure, save that `same` may have to read a file."""
    rows = list(wanted)
    away = {(row.path, row.etag): row for row in rows if row.path not in there or not same(there[row.path], row)}
    places = archived_places(rows, there)
    found = {key: there[places[key]] for key, row in away.items() if key in places and _unchanged(there[places[key]], row, same)}
    if gone := sorted(path for path, etag in away if (path, etag) not in found):
        raise UsageError(
            f"{len(gone)} files that undone runs took are gone, {_listed(gone)} among them: they cannot be read again.",
            next="Put them back, or use --hold.",
        )
    if taken := sorted(path for path, _ in away if path in there):
        raise _in_the_way(taken)
    if several := sorted(path for path, count in Counter(path for path, _ in away).items() if count > 1):
        what = f"several files that undone runs took had the name {_listed(several)}: one only can come back to it."
        raise UsageError(what, next="Use --hold.")
    return tuple((away[key], Move(info.path, info.etag, key[0])) for key, info in sorted(found.items()))


def _unchanged(archived: FileInfo, row: ConsumedFile, same: Same) -> bool:
    return not row.archived or archived.etag == row.archived_etag or same(archived, row)


def _brought_back(files: Files, row: ConsumedFile, move: Move) -> MovedFile:
    try:
        there = files.move(move.path, move.to, etag=move.etag)
    except FileExists:
        raise _in_the_way([move.to]) from None
    except FileMissing:
        raise UsageError(f"{move.path} was moved or changed by somebody else in this moment.", next="Try again.") from None
    return MovedFile(row.path, row.etag, there.path, there.etag)


def _in_the_way(paths: list[str]) -> UsageError:
    what = f"other files lie where {_listed(paths)} would come back to."
    return UsageError(what, next="Rename them, or use --hold.")


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more
