"""The files of a zone: with those that symbolic links in it lead to, and the ones that a run reads,
which are listed once and the same when it publishes.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from lakebed.errors import FileMissing, FilesChanged, LinkRefused
from lakebed.landing.plan import data_files, is_data, not_consumed, quarantined_files
from lakebed.landing.spec import ZoneSpec
from lakebed.names import ZoneName
from lakebed.ports import ConsumedFile, FileInfo, Files, StrayLink

_AT_ONCE = 8
_ASKED = 10_000  # files that are waited for together
_SHOWN = 10


@dataclass(frozen=True)
class FrozenFiles:
    """The files of a zone that a run reads, and those that wait because they are still being
    written.
    """

    zone: ZoneName
    files: tuple[FileInfo, ...]
    waiting: tuple[FileInfo, ...] = ()
    quarantined: int = 0  # files that earlier runs have set aside
    unmatched: int = 0  # files that do not match the pattern, if none does


def list_zone(files: Files, zone: ZoneName, folder: str = "") -> tuple[FileInfo, ...]:
    """All files of a zone, or of a folder in it, by path.

    `LinkRefused` for a symbolic link that leads out of the zone where a run would look for data:
    whether rows that were read there before are gone cannot be told.
    """

    def refuse(link: StrayLink) -> None:
        if hides_data(link, zone, folder):
            raise LinkRefused(link.path, f"{link.fault}: to {link.target}")

    return _files_below(files, zone, folder, refuse)


def survey_zone(files: Files, zone: ZoneName) -> tuple[tuple[FileInfo, ...], tuple[StrayLink, ...]]:
    """All files of a zone, by path, and the links that a run refuses."""
    strays: list[StrayLink] = []
    listed = _files_below(files, zone, "", strays.append)
    return listed, tuple(link for link in strays if hides_data(link, zone, ""))


def _files_below(
    files: Files, zone: ZoneName, folder: str, stray: Callable[[StrayLink], None]
) -> tuple[FileInfo, ...]:
    top = _top(zone, folder)
    below = (file for file in files.follow(zone.folder, stray=stray) if file.path.startswith(top))
    return tuple(sorted(below, key=lambda file: file.path))


def hides_data(link: StrayLink, zone: ZoneName, folder: str) -> bool:
    """Whether data files may be missing because of a link: it leads to the folder, or is in it
    under a name that would be read. Pure.
    """
    top = _top(zone, folder)
    return top.startswith(f"{link.path}/") or (
        link.path.startswith(top) and is_data(link.path.removeprefix(top))
    )


def _top(zone: ZoneName, folder: str) -> str:
    return f"{zone.folder}/{folder}/" if folder else f"{zone.folder}/"


def freeze(
    files: Files,
    zone: ZoneName,
    spec: ZoneSpec,
    *,
    pattern: str | None = None,
    consumed: Iterable[ConsumedFile] = (),
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
) -> FrozenFiles:
    """List a zone.

    If files are younger than `settle_seconds`, wait and list again: those that changed must wait.
    """

    def data_of(listed: tuple[FileInfo, ...]) -> tuple[FileInfo, ...]:
        return data_files(listed, zone, pattern=pattern, spec=spec)

    taken, every = tuple(consumed), list_zone(files, zone)
    matching = data_of(every)
    seen = not_consumed(matching, taken)
    settled = now() - timedelta(seconds=spec.settle_seconds)
    young = [file for file in seen if file.modified > settled]
    if young:
        oldest = min(
            spec.settle_seconds, max((file.modified - settled).total_seconds() for file in young)
        )
        sleep(oldest)
        later = {(file.path, file.etag, file.size) for file in data_of(list_zone(files, zone))}
    changing = {file.path for file in young if (file.path, file.etag, file.size) not in later}
    held = tuple(file for file in seen if file.path in changing)
    return FrozenFiles(
        zone,
        tuple(file for file in seen if file not in held),
        held,
        quarantined=len(quarantined_files(every, zone)),
        unmatched=0 if matching else len(data_files(every, zone)),
    )


def require_unchanged(files: Files, frozen: Iterable[FileInfo]) -> None:
    """Before publishing: `FilesChanged` if a file is no longer the one that was read."""
    rest, other = iter(frozen), list[str]()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while some := list(islice(rest, _ASKED)):
            other += filter(None, pool.map(lambda file: _changed(files, file), some))
    if other:
        raise FilesChanged(
            f"{_listed(other)} changed or disappeared after"
            f" {'it was' if len(other) == 1 else 'they were'} read.",
            safe="Nothing was published.",
            next="Run it again: the files will be read as they are then.",
        )


def _changed(files: Files, file: FileInfo) -> str:
    try:
        return "" if files.info(file.path).etag == file.etag else file.path
    except FileMissing:
        return file.path


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(paths[:_SHOWN]) + (
        f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    )
