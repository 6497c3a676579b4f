"""A lost metadata file that the catalog points at, and what can replace it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lakebed.care.fsck.pointing import Replacement, replacement
from lakebed.care.fsck.services import FsckServices
from lakebed.care.fsck.spec import Finding, PointBack
from lakebed.ports import DamagedFile, Pointer, PointerChange, PointerRow, RecordedEvent, RefMove

_LIST = re.compile(r"snap-(\d+)-")
_AT_ONCE = 10_000


def with_repair(services: FsckServices, found: Finding, pointers: Iterable[Pointer]) -> Finding:
    """The finding, with a repair if it is a lost metadata file that another one can replace without
    loss.
    """
    lost = next(
        (pointer for pointer in pointers if _same(services, pointer.location, found.where)), None
    )
    if found.kind != "damaged metadata" or services.pointer_rows is None or lost is None:
        return found
    row = next(
        (
            row
            for row in services.pointer_rows.rows()
            if row.kind == "table" and row.location == lost.location
        ),
        None,
    )
    path = services.ports.root.relative(lost.location)
    if row is None or path is None or "/metadata/" not in path:
        return found
    chosen = _replacement(services, lost, row, path.rsplit("/metadata/", 1)[0])
    if isinstance(chosen, str):
        return replace(found, what=f"{found.what}; {chosen}")
    return replace(
        found,
        repair=PointBack(lost.table, PointerChange(row, chosen.file.location), chosen.replay),
        advice="",
    )


def _same(services: FsckServices, one: str, other: str) -> bool:
    path = services.ports.root.relative
    return (path(one) or one) == (path(other) or other)


def _replacement(
    services: FsckServices, lost: Pointer, row: PointerRow, folder: str
) -> Replacement | str:
    read = services.inspection.metadata_files(f"{folder}/metadata")
    files = [
        file
        for file in read
        if not isinstance(file, DamagedFile) and not _same(services, file.location, lost.location)
    ]
    before = next(
        (file for file in files if row.previous and _same(services, file.location, row.previous)),
        None,
    )
    listed = services.ports.files.list(f"{folder}/metadata")
    names = (info.path.rsplit("/", 1)[-1] for info in listed)
    lists = {int(found[1]) for name in names if (found := _LIST.match(name))}
    events = _events(services, lost)
    return replacement(lost.location, before, files, lists, events, _last_move(services, events))


def _events(services: FsckServices, lost: Pointer) -> list[RecordedEvent]:
    events: list[RecordedEvent] = []
    while more := services.ports.events.since(
        events[-1].number if events else 0, table=lost.table, limit=_AT_ONCE
    ):
        events += more
    return events


def _last_move(services: FsckServices, events: Sequence[RecordedEvent]) -> RefMove | None:
    """The table's part of the last publication recorded for it."""
    last = events[-1].event if events else None
    done = services.ports.catalog.published(last.detail.get("run", "")) if last else None
    return (
        next((move for move in done.moves if last and move.published == last.table), None)
        if done
        else None
    )
