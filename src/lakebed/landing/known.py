"""Finding files of the ledger that now have another etag or were archived to `_processed/`."""

import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from lakebed.landing.digest import content_digest, is_content_hash, would_have_etag
from lakebed.landing.plan import PROCESSED, is_archived, path_in_zone
from lakebed.ports import ConsumedFile, FileInfo, Files, MovedFile

_NUMBERED = re.compile(r"~\d+(?=\.|$)")  # see `archive`: added when the name was taken
_AT_ONCE = 8
Same = Callable[[FileInfo, ConsumedFile], bool]


def recognise_files(
    files: Files, present: Iterable[FileInfo], rows: Iterable[ConsumedFile]
) -> tuple[MovedFile, ...]:
    """Files with another etag than in the ledger but the same content: the lake was copied or
    restored.

    A different file of the same size counts as new; the ledger's content hash decides, where it has
    one.
    """
    known: dict[str, list[ConsumedFile]] = {}
    for row in rows:
        known.setdefault(row.path, []).append(row)
    return tuple(
        seen for file in present if (seen := _recognised(files, file, known.get(file.path, [])))
    )


def _recognised(files: Files, file: FileInfo, rows: list[ConsumedFile]) -> MovedFile | None:
    if any(row.etag == file.etag for row in rows):
        return None
    # Only the last of several files of this name can still be there; an earlier one that reappears
    # is a new file.
    last = max((row.taken_at for row in rows), default=0.0)
    tried: set[str] = set()
    for row in rows:
        if row.etag not in tried and (row.taken_at == last or same_time(row.etag, file.etag)):
            tried.add(row.etag)
            if is_same(files, file, row):
                return MovedFile(row.path, row.etag, file.path, file.etag)
    return None


def is_same(files: Files, file: FileInfo, row: ConsumedFile) -> bool:
    """Whether a file has the content that was read.

    Its content is hashed only if the size matches and the etag does not.
    """
    if file.size != row.size:
        return False
    if file.etag in {row.etag, row.archived_etag}:
        return True
    if row.digest:
        return content_digest(files, file) == row.digest
    return same_time(row.etag, file.etag) or would_have_etag(files, file, row.etag)


def same_time(etag: str, other: str) -> bool:
    """Whether two etags of local files agree in size and time, which is all that older versions
    recorded.
    """
    size_and_time, _, _ = etag.rpartition("-")
    return "-" in size_and_time and size_and_time == other.rpartition("-")[0]


def content_digests(
    files: Files, read: Iterable[FileInfo], known: Iterable[ConsumedFile]
) -> dict[str, str]:
    """Content hashes by path, for files whose etag is not one; files whose hash is in the ledger
    are not read again.
    """
    told = {(row.path, row.etag): row.digest for row in known if row.digest}
    unsaid = [file for file in read if not is_content_hash(file.etag)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(
            lambda file: told.get((file.path, file.etag)) or content_digest(files, file), unsaid
        )
        return {file.path: digest for file, digest in zip(unsaid, found, strict=True)}


def archived_places(
    rows: Iterable[ConsumedFile], there: Mapping[str, FileInfo]
) -> dict[tuple[str, str], str]:
    """Paths of archived files, by their former path and etag. Pure."""
    groups: dict[tuple[str, str], list[ConsumedFile]] = {}
    for row in rows:
        groups.setdefault((row.path, row.etag), []).append(row)
    told = {
        key: row.archived for key, group in groups.items() for row in group if row.archived in there
    }
    unsaid = {key: group for key, group in groups.items() if not any(row.archived for row in group)}
    free = (
        _by_name(info for path, info in there.items() if path not in set(told.values()))
        if unsaid
        else {}
    )
    for key, group in unsaid.items():
        candidates = free.get(
            (group[0].zone.folder, path_in_zone(group[0].path, group[0].zone)), {}
        )
        if place := next(
            (run for run, info in candidates.items() if _fits(run, info, group)), None
        ):
            told[key] = candidates.pop(place).path
    return told


def files_still_there(
    rows: Iterable[ConsumedFile], there: Iterable[FileInfo]
) -> tuple[ConsumedFile, ...]:
    """The rows of files that may still be there: in their zone, or archived under their name.

    Pure. Content is not compared.
    """
    present = {file.path: file for file in there}
    archived = _by_name(file for file in present.values() if is_archived(file))
    return tuple(
        row
        for row in rows
        if row.path in present or (row.zone.folder, path_in_zone(row.path, row.zone)) in archived
    )


def locate_files(
    taken: Iterable[ConsumedFile], files: Iterable[FileInfo]
) -> tuple[dict[str, ConsumedFile], tuple[str, ...]]:
    """The present paths of files that runs have read, and the former paths of those that are gone.

    Pure.
    """
    rows, there = list(taken), {file.path: file for file in files}
    places = archived_places(
        rows, {path: file for path, file in there.items() if is_archived(file)}
    )
    found, gone = {}, []
    for row in rows:
        if row.path in there and there[row.path].etag == row.etag:
            found[row.path] = row
        elif place := places.get((row.path, row.etag)):
            found[place] = row
        elif row.size:  # an empty file is not missed
            gone.append(row.path)
    return found, tuple(gone)


def _by_name(free: Iterable[FileInfo]) -> dict[tuple[str, str], dict[str, FileInfo]]:
    """Archived files by zone folder and name, then by the run and number in their path."""
    found: dict[tuple[str, str], dict[str, FileInfo]] = {}
    for info in free:
        zone, processed, below = info.path.partition(f"/{PROCESSED}/")
        run, _, name = below.partition("/")
        if processed and name:
            found.setdefault((zone, name), {})[f"{run}/"] = info
            folder, slash, last = name.rpartition("/")
            if number := _NUMBERED.search(last):
                plain = f"{folder}{slash}{last[: number.start()]}{last[number.end() :]}"
                found.setdefault((zone, plain), {})[f"{run}/{number[0]}"] = info
    return found


def _fits(place: str, info: FileInfo, rows: list[ConsumedFile]) -> bool:
    """Whether a file of this name can be one that an older version archived without recording its
    path.
    """
    took_it = {row.run_id for row in rows}
    return info.size == rows[0].size and (
        info.etag == rows[0].etag or place.partition("/")[0] in took_it
    )
