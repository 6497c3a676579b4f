"""Files that a rollback makes wait again: brought back from `_processed/` to where they had landed."""

from collections.abc import Iterable, Mapping

from lakebed.errors import FileExists, UsageError
from lakebed.landing.plan import PROCESSED, Move
from lakebed.names import ZoneName
from lakebed.ports import ConsumedFile, FileInfo, Files

_SHOWN = 3


def requeue(files: Files, taken: Iterable[ConsumedFile]) -> tuple[Move, ...]:
    """Bring these files back; those that never left stay. Refused, before any is moved, where one cannot come back."""
    by_zone: dict[ZoneName, list[ConsumedFile]] = {}
    for file in taken:
        by_zone.setdefault(file.zone, []).append(file)
    moves = [
        move
        for zone, wanted in by_zone.items()
        for move in plan_requeue(zone, wanted, {info.path: info for info in files.list(zone.folder)})
    ]
    for move in moves:
        try:
            files.move(move.path, move.to)
        except FileExists:
            raise _in_the_way([move.to]) from None
    return tuple(moves)


def plan_requeue(zone: ZoneName, wanted: Iterable[ConsumedFile], there: Mapping[str, FileInfo]) -> tuple[Move, ...]:
    """Which files have to be moved, and from where. Pure."""
    archived = {info.etag: info for path, info in there.items() if path.startswith(f"{zone.folder}/{PROCESSED}/")}
    away = {(file.path, file.etag) for file in wanted if file.path not in there or there[file.path].etag != file.etag}
    if gone := sorted(path for path, etag in away if etag not in archived):
        raise UsageError(
            f"{len(gone)} files that undone runs took are gone, {_listed(gone)} among them: they cannot be read again.",
            next="Put them back, or use --hold.",
        )
    if taken := sorted(path for path, _ in away if path in there):
        raise _in_the_way(taken)
    return tuple(Move(archived[etag].path, etag, path) for path, etag in sorted(away))


def _in_the_way(paths: list[str]) -> UsageError:
    what = f"other files lie where {_listed(paths)} would come back to."
    return UsageError(what, next="Rename them, or use --hold.")


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more
