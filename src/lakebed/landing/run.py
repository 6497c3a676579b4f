"""A run and its zone: freeze the files, read them with every row accounted for, check them again
before publishing.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from lakebed.errors import BadFiles, FileMissing, FilesChanged
from lakebed.landing.archive import quarantine_files
from lakebed.landing.checking.check import CheckedFiles, check
from lakebed.landing.checking.frames import frame_of
from lakebed.landing.checking.read_groups import Address
from lakebed.landing.checking.remembered_types import NOTHING_REMEMBERED, RememberedTypes
from lakebed.landing.formats.sniff import sniff_all
from lakebed.landing.formats.sniffed import BadFile, SniffedFile
from lakebed.landing.plan import data_files, not_consumed
from lakebed.landing.spec import ZoneSpec
from lakebed.names import ZoneName
from lakebed.ports import ConsumedFile, FileInfo, Files, Frame, LandingReader, QuarantinedFile
from lakebed.types import ColumnType

_AT_ONCE = 8
_SHOWN = 10


@dataclass(frozen=True)
class FrozenFiles:
    """The files of a zone that a run reads, and those that wait because they are still being
    written.
    """

    zone: ZoneName
    files: tuple[FileInfo, ...]
    waiting: tuple[FileInfo, ...] = ()


@dataclass(frozen=True)
class ZoneRows:
    """The rows of a zone's good files. `frame` is None if no file has a column."""

    frame: Frame | None
    files: tuple[FileInfo, ...]
    rows_by_file: Mapping[str, int] = field(default_factory=dict)
    set_aside: tuple[QuarantinedFile, ...] = ()
    # rows of quarantined files, where they could be counted
    rejected: Mapping[str, int | None] = field(default_factory=dict)
    # the outcome of checking all rows
    checked: CheckedFiles | None = field(default=None, repr=False)


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

    def listed() -> tuple[FileInfo, ...]:
        return data_files(files.list(zone.folder), zone, pattern=pattern, spec=spec)

    taken = tuple(consumed)
    seen = not_consumed(listed(), taken)
    settled = now() - timedelta(seconds=spec.settle_seconds)
    young = [file for file in seen if file.modified > settled]
    if young:
        oldest = min(
            spec.settle_seconds, max((file.modified - settled).total_seconds() for file in young)
        )
        sleep(oldest)
        later = {(file.path, file.etag, file.size) for file in listed()}
    changing = {file.path for file in young if (file.path, file.etag, file.size) not in later}
    held = tuple(file for file in seen if file.path in changing)
    return FrozenFiles(zone, tuple(file for file in seen if file not in held), held)


def open_zone(
    reader: LandingReader,
    files: Files,
    zone: ZoneName,
    chosen: Sequence[FileInfo],
    spec: ZoneSpec,
    *,
    address: Address,
    run_id: str,
    keep: bool = False,
    remembered: RememberedTypes = NOTHING_REMEMBERED,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> ZoneRows:
    """The rows of the chosen files. Every file is checked first; one bad row makes its file bad.

    A file of 0 bytes has no rows, unless the zone calls it bad. Columns have the `remembered`
    types.

    Bad files are moved to `_quarantine/{run_id}/` with their reasons, or fail the run with
    `BadFiles` if the zone says so; with `keep` they always fail it, and nothing is moved.
    """
    chosen = tuple(dict.fromkeys(chosen))
    empty = {file.path: 0 for file in chosen if not file.size and spec.empty_file == "no_rows"}
    sniffed = _sniffed(files, zone, [file for file in chosen if file.path not in empty], spec)
    good = [one for one in sniffed if isinstance(one, SniffedFile)]
    checked = check(reader, files, good, spec, address=address, remembered=remembered)
    bad = (*(one for one in sniffed if isinstance(one, BadFile)), *_counted(checked.bad, good))
    if bad and (keep or spec.on_bad_file == "fail"):
        raise _refusal(bad, zone, spec)
    if wanted := [one for one in bad if one.other_reader]:
        raise _left_to_others(wanted, zone)
    aside = quarantine_files(files, bad, zone, run_id=run_id, at=now())
    rows = empty | dict(checked.rows)
    return ZoneRows(
        frame_of(reader, checked, spec, address),
        tuple(file for file in chosen if file.path in rows),
        rows,
        aside,
        {one.file.path: one.rows for one in bad},
        checked,
    )


def infer_zone_types(
    reader: LandingReader,
    files: Files,
    zone: ZoneName,
    chosen: Sequence[FileInfo],
    spec: ZoneSpec,
    *,
    address: Address,
) -> Mapping[str, ColumnType]:
    """The column types of all good files; nothing is moved."""
    sniffed = _sniffed(files, zone, [file for file in chosen if file.size], spec)
    return check(
        reader,
        files,
        [one for one in sniffed if isinstance(one, SniffedFile)],
        spec,
        address=address,
    ).learned


def require_unchanged(files: Files, frozen: Iterable[FileInfo]) -> None:
    """Before publishing: `FilesChanged` if a file is no longer the one that was read."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        other = [path for path in pool.map(lambda file: _changed(files, file), frozen) if path]
    if other:
        raise FilesChanged(
            f"{_listed(other)} changed or disappeared after"
            f" {'it was' if len(other) == 1 else 'they were'} read.",
            safe="Nothing was published.",
            next="Run it again: the files will be read as they are then.",
        )


def _sniffed(
    files: Files, zone: ZoneName, chosen: Sequence[FileInfo], spec: ZoneSpec
) -> tuple[SniffedFile | BadFile, ...]:
    try:
        sniffed = sniff_all(files, chosen, spec)
    except FileMissing as error:
        raise FilesChanged(
            "the file disappeared before it was read.",
            where=error.path,
            safe="Nothing was published.",
            next="Run it again.",
        ) from error
    formats = {one.format: one.file.path for one in sniffed if isinstance(one, SniffedFile)}
    if spec.mixed_formats == "refuse" and len(formats) > 1:
        found = ", ".join(f"{kind} ({path})" for kind, path in formats.items())
        raise BadFiles(
            f"the zone has files of several formats: {found}.",
            where=str(zone),
            next="Put them into separate zones, or set mixed_formats: union in zone.yaml.",
        )
    return sniffed


def _counted(bad: Iterable[BadFile], sniffed: Iterable[SniffedFile]) -> tuple[BadFile, ...]:
    """Bad files with their number of rows: a Parquet file states it, even if its rows cannot be
    read.
    """
    told = {one.file.path: one.rows for one in sniffed}
    return tuple(
        one if one.rows is not None else replace(one, rows=told[one.file.path]) for one in bad
    )


def _changed(files: Files, file: FileInfo) -> str:
    try:
        return "" if files.info(file.path).etag == file.etag else file.path
    except FileMissing:
        return file.path


def _refusal(bad: Sequence[BadFile], zone: ZoneName, spec: ZoneSpec) -> BadFiles:
    told = "; ".join(f"{one.file.path}: {one.reason}" for one in bad[:_SHOWN])
    more = f"; and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    advice = ", or set on_bad_file: quarantine in zone.yaml" if spec.on_bad_file == "fail" else ""
    return BadFiles(
        f"{len(bad)} file{'s' if len(bad) > 1 else ''} cannot be read: {told}{more}.",
        where=str(zone),
        safe="Nothing was published, and no file was moved.",
        next=f"Fix the file or remove it{advice}.",
    )


def _left_to_others(bad: Sequence[BadFile], zone: ZoneName) -> BadFiles:
    told = "; ".join(f"{one.file.path}: {one.reason}" for one in bad[:_SHOWN])
    return BadFiles(
        f"values do not fit this table's columns, and {bad[0].other_reader}, which also reads the"
        f" zone, may accept them: {told}.",
        where=str(zone),
        safe="Nothing was published, and no file was moved.",
        next=(
            "Let this table widen its columns (on_schema_change: append), set types or nulls in"
            " zone.yaml, or remove the file."
        ),
    )


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(paths[:_SHOWN]) + (
        f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    )
