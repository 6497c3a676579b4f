"""What is past its retention: landing files, staged payloads, logs, records, events. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from lakebed.care.services import ZoneRules
from lakebed.care.steps import (
    PurgeEvents,
    PurgeFolders,
    PurgeLogs,
    PurgeProcessed,
    PurgeQuarantine,
    PurgeRuns,
)
from lakebed.care.survey import LakeSurvey
from lakebed.landing.plan import PROCESSED, QUARANTINE
from lakebed.names import TableName, ZoneName, run_time
from lakebed.ports import FileInfo, RunSummary
from lakebed.settings import CareSettings, TableCare

# times as long: what has no record may belong to another lake, or to a run whose record is gone
_UNKNOWN = 7


def _time_in_name(name: str) -> datetime | None:
    """When the run began whose id is the name of a folder; None if the name is not a run's id."""
    try:
        return run_time(name) if len(name) == 32 else None
    except (ValueError, OverflowError, OSError):
        return None


def purge_processed(
    zone: ZoneRules, files: Iterable[FileInfo], *, now: datetime
) -> Iterator[PurgeProcessed]:
    """Age counts from the run that archived a file: the file's own time may be anything."""
    limit = now - timedelta(days=zone.spec.processed_max_age_days)
    old = tuple(file for file in files if max(file.modified, _archived(file, zone)) < limit)
    if zone.spec.auto_purge and old:
        why = f"processed more than {zone.spec.processed_max_age_days} days ago"
        yield PurgeProcessed(zone=zone.zone, files=old, readers=zone.readers, why=why)


def _archived(file: FileInfo, zone: ZoneRules) -> datetime:
    below = file.path.removeprefix(f"{zone.zone.folder}/{PROCESSED}/")
    return _time_in_name(below.split("/", 1)[0]) or file.modified


def purge_quarantine(
    zone: ZoneName,
    files: Iterable[FileInfo],
    runs: Mapping[str, RunSummary],
    settings: CareSettings,
    *,
    now: datetime,
) -> Iterator[PurgeQuarantine]:
    """Age counts from the run that quarantined a file, or from the newest file in its folder: a
    file goes together with its reason.
    """
    days = settings.quarantine_max_age_days
    if days is None:
        return
    folders: dict[str, list[FileInfo]] = {}
    for file in files:
        below = file.path.removeprefix(f"{zone.folder}/{QUARANTINE}/")
        folders.setdefault(below.split("/", 1)[0], []).append(file)
    over = (inside for name, inside in folders.items() if _is_over(name, inside, runs, days, now))
    old = tuple(file for inside in over for file in inside)
    if old:
        why = f"quarantined more than {days:g} days ago"
        yield PurgeQuarantine(zone=zone, files=old, why=why)


def purge_staging(
    place: str,
    files: Iterable[FileInfo],
    runs: Mapping[str, RunSummary],
    settings: CareSettings,
    *,
    now: datetime,
) -> Iterator[PurgeFolders]:
    """Folders of runs that ended; the run's time counts too, since its files may be links to older
    ones.
    """
    folders: dict[str, list[FileInfo]] = {}
    for file in files:
        if "/" in file.path:
            folders.setdefault(file.path.split("/", 1)[0], []).append(file)
    days = settings.staging_max_age_days
    old = [
        name
        for name, inside in folders.items()
        if _is_over(name, inside, runs, days * (1 if name in runs else _UNKNOWN), now)
    ]
    if old:
        size = sum(file.size for name in old for file in folders[name])
        yield PurgeFolders(
            place=place,
            folders=tuple(sorted(old)),
            bytes=size,
            why="nobody works with them any more",
        )


def _is_over(
    name: str,
    inside: list[FileInfo],
    runs: Mapping[str, RunSummary],
    days: float,
    now: datetime,
) -> bool:
    """Whether the run that a folder is named after ended, and it and all files are older."""
    newest = max(
        *(file.modified for file in inside), _time_in_name(name) or datetime.min.replace(tzinfo=UTC)
    )
    known = runs.get(name)
    if known and known.state == "running":
        return False
    return newest < now - timedelta(days=days)


def purge_logs(
    place: str,
    files: Iterable[FileInfo],
    runs: Mapping[str, RunSummary],
    settings: CareSettings,
    *,
    now: datetime,
) -> Iterator[PurgeLogs]:
    """Logs that have not grown for a long time; never that of an active run."""
    limit = now - timedelta(days=settings.logs_max_age_days)
    going_on = {run_id for run_id, run in runs.items() if run.state == "running"}
    old = tuple(
        file for file in files if file.modified < limit and _stem(file.path) not in going_on
    )
    if old:
        yield PurgeLogs(
            place=place, files=old, why=f"older than {settings.logs_max_age_days:g} days"
        )


def _stem(path: str) -> str:
    return path.rpartition("/")[2].split(".", 1)[0]


def purge_runs(
    table: TableName,
    runs: Iterable[RunSummary],
    judged: tuple[str, ...],
    rules: TableCare,
    *,
    now: datetime,
) -> Iterator[PurgeRuns]:
    """Records beyond their number or age, given newest first; the last success stays: it says what
    the table is made of.
    """
    limit = now - timedelta(days=rules.runs_max_age_days)
    ended = [run for run in runs if run.state != "running"]
    last = next((run.run_id for run in ended if run.state == "success"), None)
    gone = tuple(
        run.run_id
        for number, run in enumerate(ended)
        if (number >= rules.runs_max_per_pipeline or run.started_at < limit) and run.run_id != last
    )
    trim = tuple(run_id for run_id in judged if run_id not in gone)
    if gone or trim:
        why = (
            f"more than {rules.runs_max_per_pipeline}, or older than {rules.runs_max_age_days:g}"
            " days"
        )
        yield PurgeRuns(table=table, runs=gone, trim=trim, why=why)


def purge_events(
    seen: LakeSurvey, settings: CareSettings, *, now: datetime
) -> Iterator[PurgeEvents]:
    """Events and publications are purged only if some are old enough."""
    before = now - timedelta(days=settings.events_max_age_days)
    if any(at < before for at in (seen.oldest_event, seen.oldest_publication) if at):
        yield PurgeEvents(before=before, why=f"older than {settings.events_max_age_days:g} days")
