"""Reading everything that care decides by. No JVM starts; details are read only for tables that
need them.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from lakebed.care.ages import LETTING_GO, let_go
from lakebed.care.all_tables import Stock
from lakebed.care.compaction import HeadFiles, judged, promising
from lakebed.care.removal.orphans import (
    Orphans,
    count_orphans,
    lease_names,
    list_warehouses,
    lost_catalog_reason,
    old_files,
    orphans_before,
)
from lakebed.care.removal.removal import Removal, awaited_files, read_removals
from lakebed.care.services import CareServices, Reaping, ZoneRules
from lakebed.care.spec import CareRequest
from lakebed.derived.identity import listed_tables
from lakebed.errors import DamagedTable, LakebedError
from lakebed.landing.plan import PROCESSED, QUARANTINE
from lakebed.names import TableName, ZoneName
from lakebed.ports import FileInfo, Files, RunSummary, SnapshotProtection
from lakebed.settings import SAFE_DAYS, TableCare

_STAGED = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LOG_FOLDERS = ("runs", "spark", "query_log", "ingestion_log")
_LOG = re.compile(
    r"runs/[0-9a-f]{32}\.log|spark/\d{8}-\d{6}-\d+\.log|spark/crash-\d+\.txt|(query|ingestion)_log/\d{4}-\d\d-\d\d\.jsonl"
)


@dataclass(frozen=True)
class OrphanLook:
    """How many orphans are in each folder, with the leases to hold for it; `refused` says why none
    are known.
    """

    found: Mapping[str, Orphans] = field(default_factory=dict)
    leases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refused: str = ""


@dataclass(frozen=True)
class LakeSurvey:
    """Everything that was read about a lake."""

    stock: Stock
    rules: Mapping[TableName, TableCare]  # of every table, dropped ones too
    # pipelines whose settings cannot be read, and why
    unread: Mapping[TableName, str] = field(default_factory=dict)
    runs: tuple[RunSummary, ...] = ()
    busy: frozenset[TableName] = frozenset()  # tables whose lease is held
    kept: tuple[SnapshotProtection, ...] = ()
    released: Mapping[int, datetime] = field(default_factory=dict)
    removals: tuple[Removal, ...] = ()
    heads: Mapping[TableName, HeadFiles] = field(default_factory=dict)
    targets: Mapping[TableName, int] = field(default_factory=dict)  # size to aim at for a data file
    # layouts of each table that are to be built, with how many batches of them
    layouts: Mapping[TableName, Mapping[str, int]] = field(default_factory=dict)
    orphans: OrphanLook = OrphanLook()
    zones: tuple[tuple[ZoneRules, tuple[FileInfo, ...]], ...] = ()
    quarantine: Mapping[ZoneName, tuple[FileInfo, ...]] = field(default_factory=dict)
    staging: Mapping[str, tuple[FileInfo, ...]] = field(default_factory=dict)
    logs: Mapping[str, tuple[FileInfo, ...]] = field(default_factory=dict)
    # with verdicts, beyond their number
    judged_runs: Mapping[TableName, tuple[str, ...]] = field(default_factory=dict)
    oldest_event: datetime | None = None
    oldest_publication: datetime | None = None
    reaping: Reaping = field(default_factory=Reaping)

    @property
    def runs_by_table(self) -> dict[TableName, list[RunSummary]]:
        return by_table(self.runs)


def look_around(services: CareServices, request: CareRequest, *, now: datetime) -> LakeSurvey:
    """Read everything that the requested actions are decided by."""
    lake_wide = request.tables is None
    if request.wants("remove_orphans"):
        stock, orphans = _look_for_orphans(services, now=now)
    else:
        stock, orphans = services.observer.take_stock(), OrphanLook()
    runs = services.ports.records.summaries()
    rules, unread = _rules(services, stock, runs)
    landing = request.wants("purge_processed") or request.wants("purge_quarantine")
    zones = services.rooms.zones() if lake_wide and landing else ()
    return LakeSurvey(
        stock,
        rules,
        unread,
        runs,
        busy=_busy(services, runs),
        kept=services.kept(),
        released=_released(services, rules, now=now),
        removals=read_removals(services.ports.files),
        heads=_heads(services, stock, rules, request),
        targets={table: _target(services, table, stock) for table in stock.tables},
        layouts=_layouts(services, stock, request),
        orphans=_with_leases(orphans, stock, runs),
        zones=tuple(
            (zone, _landed(services, zone.zone, PROCESSED))
            for zone in zones
            if zone.spec.auto_purge
        ),
        quarantine={
            zone.zone: _landed(services, zone.zone, QUARANTINE)
            for zone in zones
            if services.ports.settings.care.quarantine_max_age_days is not None
        },
        staging={place: staged_files(files) for place, files in services.staging.items()}
        if lake_wide
        else {},
        logs={place: log_files(files) for place, files in services.logs.items()}
        if lake_wide
        else {},
        judged_runs=_judged_runs(services, rules, runs) if request.wants("purge_runs") else {},
        oldest_event=_oldest(services),
        oldest_publication=services.ports.catalog.oldest_publication(),
        reaping=services.rooms.reap(now, dry_run=True)
        if lake_wide and request.wants("reap_releases")
        else Reaping(),
    )


def _landed(services: CareServices, zone: ZoneName, folder: str) -> tuple[FileInfo, ...]:
    return tuple(services.ports.files.list(f"{zone.folder}/{folder}"))


def _rules(
    services: CareServices, stock: Stock, runs: tuple[RunSummary, ...]
) -> tuple[dict[TableName, TableCare], dict[TableName, str]]:
    """How each table is cared for; a derived table like its source. An unreadable pipeline may ask
    for a longer retention, so its table is left alone.
    """
    told = services.rooms.own_care()
    own = {table: said for table, said in told.items() if isinstance(said, TableCare)}
    unread = {table: str(said) for table, said in told.items() if isinstance(said, LakebedError)}
    names = (
        {member.pointer.table for member in stock.members}
        | own.keys()
        | {run.table for run in runs}
    )
    asked = {table: stock.sources.get(table, table) for table in names}
    rules = {
        table: services.ports.settings.care_for(source, own=own.get(source))
        for table, source in asked.items()
    }
    unread |= {table: unread[source] for table, source in asked.items() if source in unread}
    return rules, unread


def _layouts(
    services: CareServices, stock: Stock, request: CareRequest
) -> dict[TableName, Mapping[str, int]]:
    """Layouts that are due; a table that lists none costs no look. One that cannot be looked at is
    left to `layout ls` and fsck.
    """
    found: dict[TableName, Mapping[str, int]] = {}
    if not request.wants("build_layouts") or stock.in_the_way:
        return found
    for table, member in stock.tables.items():
        if member.metadata and request.means(table) and listed_tables(member.metadata):
            with suppress(LakebedError):
                found[table] = services.rooms.layouts.due(table)
    return found


def _busy(services: CareServices, runs: tuple[RunSummary, ...]) -> frozenset[TableName]:
    running = {run.table for run in runs if run.state == "running"}
    return frozenset(table for table in running if services.ports.leases.holder(str(table)))


def _released(
    services: CareServices, rules: Mapping[TableName, TableCare], *, now: datetime
) -> dict[int, datetime]:
    days = max((rule.snapshot_max_age_days for rule in rules.values()), default=SAFE_DAYS)
    return let_go(
        services.ports.events.since(
            kinds=LETTING_GO, after=now - timedelta(days=days), limit=1_000_000
        )
    )


def _target(services: CareServices, table: TableName, stock: Stock) -> int:
    metadata = stock.tables[table].metadata
    written = metadata.properties.get("write.target-file-size-bytes", "") if metadata else ""
    if written.isdigit():
        return int(written)
    return int(services.ports.settings.write_for(table).target_file_size or 0)


def _heads(
    services: CareServices, stock: Stock, rules: Mapping[TableName, TableCare], request: CareRequest
) -> dict[TableName, HeadFiles]:
    found: dict[TableName, HeadFiles] = {}
    if not (request.wants("compact_files") or request.wants("rewrite_manifests")):
        return found
    for table, member in stock.tables.items():
        if (
            member.metadata
            and not table.temporary
            and request.means(table)
            and promising(member.metadata, rules[table])
        ):
            head = member.metadata.refs["main"].snapshot
            # fsck reports the damage; here it only means that there is nothing to rewrite
            with suppress(DamagedTable):
                files = services.ports.reach.files(member.pointer, snapshots=[head])
                target = _target(services, table, stock)
                found[table] = judged(files, target=target, spec=member.metadata.spec)
    return found


def _look_for_orphans(services: CareServices, *, now: datetime) -> tuple[Stock, OrphanLook]:
    """Files are listed before the catalog is read."""
    files, settings = services.ports.files, services.ports.settings.care
    before = orphans_before(settings.orphan_file_max_age_days, now=now)
    with old_files(list_warehouses(files), before=before) as listed:
        look = services.observer.look()
        if refused := look.refused or lost_catalog_reason(listed, look.stock):
            return look.stock, OrphanLook(refused=refused)
        return look.stock, OrphanLook(count_orphans(listed, look, awaited_files(files)))


def _with_leases(look: OrphanLook, stock: Stock, runs: tuple[RunSummary, ...]) -> OrphanLook:
    owners = {run.run_id: run.table for run in runs}
    leases = {folder: lease_names(folder, stock, owners.get) for folder in look.found}
    return replace(look, leases=leases)


def _judged_runs(
    services: CareServices, rules: Mapping[TableName, TableCare], runs: tuple[RunSummary, ...]
) -> dict[TableName, tuple[str, ...]]:
    """Records are read only of tables with more of them than verdicts are kept."""
    found = {}
    for table, own in by_table(runs).items():
        rule, ended = rules[table], [run.run_id for run in own if run.state != "running"]
        if len(ended) > rule.verdicts_max_per_gate:
            beyond = set(ended[rule.verdicts_max_per_gate :])
            records = services.ports.records.runs(table=table, limit=len(ended) + 1000)
            found[table] = tuple(
                record.run_id for record in records if record.run_id in beyond and record.verdicts
            )
    return found


def staged_files(files: Files) -> tuple[FileInfo, ...]:
    """Files in folders with names that Lakebed gives: others may use the place, too."""
    return tuple(
        file
        for folder in files.folders()
        if _STAGED.fullmatch(folder)
        for file in files.list(folder)
    )


def log_files(files: Files) -> tuple[FileInfo, ...]:
    """Files with names that Lakebed gives its logs, for the same reason."""
    return tuple(
        file for folder in _LOG_FOLDERS for file in files.list(folder) if _LOG.fullmatch(file.path)
    )


def by_table(runs: Iterable[RunSummary]) -> dict[TableName, list[RunSummary]]:
    """Runs of each table, in the order in which they were given."""
    found: dict[TableName, list[RunSummary]] = {}
    for run in runs:
        found.setdefault(run.table, []).append(run)
    return found


def _oldest(services: CareServices) -> datetime | None:
    oldest = services.ports.events.since(limit=1)
    return oldest[0].at if oldest else None
