"""Which files of a zone are read, and which can be archived to `_processed/`. Pure."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from lakebed.errors import BadName, UnknownName, UsageError
from lakebed.landing.spec import ZONE_FILE, ZoneSpec
from lakebed.names import TableName, ZoneName, is_run_id
from lakebed.ports import ConsumedFile, FileInfo

PROCESSED, QUARANTINE, SAMPLES = "_processed", "_quarantine", "_samples"
REASON = ".reason.json"  # the end of the name of the file that says why another is in quarantine
# how other programs name files they are still writing
UNFINISHED = (".tmp", ".part", ".partial", ".crdownload", "~")


@dataclass(frozen=True)
class Move:
    """A file to move, if it still has this etag."""

    path: str
    etag: str
    to: str


def data_files(
    files: Iterable[FileInfo],
    zone: ZoneName,
    *,
    pattern: str | None = None,
    spec: ZoneSpec | None = None,
) -> tuple[FileInfo, ...]:
    """The zone's data files, including empty ones; not hidden, unfinished or reserved names."""
    patterns = [glob for glob in (pattern, spec.pattern if spec else None) if glob]
    return tuple(
        file
        for file in files
        if (below := path_in_zone(file.path, zone))
        and is_data(below)
        and not is_folder(file)
        and all(matches_pattern(below, glob) for glob in patterns)
    )


def is_folder(file: FileInfo) -> bool:
    """Whether it is the empty object by which some programs mark a folder in a bucket."""
    return not file.size and "." not in file.path.rpartition("/")[2]


def not_consumed(
    files: Iterable[FileInfo], consumed: Iterable[ConsumedFile]
) -> tuple[FileInfo, ...]:
    """The files that a table has not read yet, by its rows of the ledger; a replaced file is a new
    one.
    """
    have = {(row.path, row.etag) for row in consumed}
    return tuple(file for file in files if (file.path, file.etag) not in have)


def replaced_files(
    files: Iterable[FileInfo], consumed: Iterable[ConsumedFile]
) -> tuple[FileInfo, ...]:
    """The files of which a table has a former version: it was not archived, so that this one is no
    further delivery under the same name.
    """
    last = {row.path: row for row in sorted(consumed, key=lambda row: row.taken_at)}
    in_place = {
        path: row.etag for path, row in last.items() if row.state == "taken" and not row.archived
    }
    return tuple(file for file in files if in_place.get(file.path, file.etag) != file.etag)


def each_once(files: Iterable[FileInfo], consumed: Iterable[ConsumedFile]) -> tuple[FileInfo, ...]:
    """The files without further paths of the same file, which symbolic links give it: it keeps the
    path that the ledger has, else its own, else that of the first link.

    Every file that a link leads to has `target`, its own path included.
    """
    listed = tuple(files)
    targets = {file.target for file in listed if file.target}
    if not targets:
        return listed
    taken = {(row.path, row.etag) for row in consumed}
    kept: dict[str, FileInfo] = {}
    by_preference = sorted(
        listed, key=lambda file: ((file.path, file.etag) not in taken, bool(file.target))
    )
    for file in by_preference:
        kept.setdefault(file.target or file.path, file)
    return tuple(
        replace(file, target=own) if own in targets else file
        for file in listed
        if kept[own := file.target or file.path] is file
    )


def matches_zone_pattern(file: ConsumedFile, pattern: str | None) -> bool:
    """Whether a file of the ledger matches a pattern."""
    return pattern is None or matches_pattern(path_in_zone(file.path, file.zone), pattern)


def plan_archive(
    present: Iterable[FileInfo],
    consumed: Iterable[ConsumedFile],
    consumers: Collection[tuple[TableName, str | None]],
) -> tuple[Move, ...]:
    """Moves for the files that every declared reader has read, each to the folder of the run that
    read it last. A symbolic link stays, and so does what it leads to: moving either would break it.
    """
    takers: dict[tuple[str, str], dict[TableName, ConsumedFile]] = {}
    for row in consumed:
        takers.setdefault((row.path, row.etag), {})[row.table] = row
    listed = tuple(present)
    linked = {file.target for file in listed}
    moves = []
    for file in listed:
        if file.target or file.path in linked:
            continue
        rows = takers.get((file.path, file.etag), {})
        zone = next((row.zone for row in rows.values()), None)
        if zone is None or not (below := path_in_zone(file.path, zone)) or not is_data(below):
            continue
        readers = {
            table
            for table, pattern in consumers
            if pattern is None or matches_pattern(below, pattern)
        }
        if readers and readers <= rows.keys():
            run_id = max(rows[table].run_id for table in readers)
            moves.append(Move(file.path, file.etag, f"{zone.folder}/{PROCESSED}/{run_id}/{below}"))
    return tuple(moves)


def quarantined_files(files: Iterable[FileInfo], zone: ZoneName) -> tuple[FileInfo, ...]:
    """The files of a zone that runs have set aside, without the files that give the reasons."""
    folder = f"{zone.folder}/{QUARANTINE}/"
    return tuple(
        file for file in files if file.path.startswith(folder) and not file.path.endswith(REASON)
    )


def plan_retry(
    listed: Iterable[FileInfo], zone: ZoneName, *, names: Collection[str] = (), run: str = ""
) -> tuple[Move, ...]:
    """Moves that bring quarantined files back to where they landed: all, those with these `names`,
    or those of a `run`, whose id may be shortened. Refused if two would land at one place, or if a
    file is there.
    """
    there = {file.path: file for file in listed}
    moves: dict[str, list[Move]] = {}
    for file in quarantined_files(there.values(), zone):
        run_id, _, name = file.path.removeprefix(f"{zone.folder}/{QUARANTINE}/").partition("/")
        if run_id.startswith(run):
            moves.setdefault(name, []).append(Move(file.path, file.etag, f"{zone.folder}/{name}"))
    for name in names:
        if name not in moves:
            raise UnknownName("quarantined file", name, moves)
    chosen = [several for name, several in moves.items() if name in (names or moves)]
    for several in chosen:
        _require_room(several, there)
    return tuple(move for several in chosen for move in several)


def _require_room(several: Sequence[Move], there: Collection[str]) -> None:
    """Raise unless this is the only file to be brought back to its place, and the place is free."""
    first = several[0]
    if first.to in there:
        raise UsageError(
            f"another file is where {first.path} would be brought back to: {first.to}.",
            next="Remove it or let a run read it, or name the other files to bring back.",
        )
    if len(several) > 1:
        runs = ", ".join(
            move.path.partition(f"/{QUARANTINE}/")[2].split("/")[0] for move in several
        )
        raise UsageError(
            f"{len(several)} runs set aside files that would be brought back to {first.to}.",
            next=f"Bring them back one after the other, by --run: {runs}",
        )


def path_in_zone(path: str, zone: ZoneName) -> str:
    """The path relative to the zone's folder; empty for a path outside it."""
    folder = f"{zone.folder}/"
    return path.removeprefix(folder) if path.startswith(folder) else ""


def is_archived(file: FileInfo) -> bool:
    return f"/{PROCESSED}/" in file.path


def path_in_run(path: str) -> str:
    """The path that an archived file had in its zone."""
    return path.partition(f"/{PROCESSED}/")[2].partition("/")[2]


def archiving_run(file: FileInfo) -> str:
    """The id of the run that archived a file; empty for a file that is not archived."""
    run_id = file.path.partition(f"/{PROCESSED}/")[2].partition("/")[0]
    return run_id if is_run_id(run_id) else ""


def is_data(below: str) -> bool:
    """Whether a file at this path in its zone is a data file."""
    hidden = any(part.startswith(("_", ".")) for part in below.split("/"))
    return not hidden and below != ZONE_FILE and not below.casefold().endswith(UNFINISHED)


def matches_pattern(below: str, pattern: str) -> bool:
    """Whether a glob matches the path in the zone or the bare file name; only `**` matches
    slashes.
    """
    glob = _compiled(pattern)
    return bool(glob.fullmatch(below) or glob.fullmatch(below.rpartition("/")[2]))


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    words = re.findall(r"\*\*/|\*+|\?|\[[!^]?\]?[^\]]*\]|.", pattern, flags=re.DOTALL)
    try:
        return re.compile("".join(map(_word, words)), flags=re.DOTALL)
    except re.error:
        raise BadName(
            "pattern", pattern, "its brackets do not contain a set of characters"
        ) from None


def _word(word: str) -> str:
    """One part of a glob as a regular expression."""
    simple = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    if word in simple:
        return simple[word]
    if word.startswith("**"):
        return ".*"
    if len(word) > 2 and word.startswith("["):
        inside = word[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        negated = inside[0] in "!^" and len(inside) > 1
        return f"(?!/)[{'^' + inside[1:] if negated else inside}]"
    return re.escape(word)
