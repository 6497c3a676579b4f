"""What is due. Pure: a survey goes in, a plan comes out."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from lakebed.care.ages import expirable
from lakebed.care.all_tables import Member
from lakebed.care.compaction import plan_compaction
from lakebed.care.removal.orphans import orphans_before
from lakebed.care.removal.protection import table_protected_by
from lakebed.care.removal.purging import (
    purge_events,
    purge_logs,
    purge_processed,
    purge_quarantine,
    purge_runs,
    purge_staging,
)
from lakebed.care.spec import ACTIONS, OF_TABLES, CareRequest
from lakebed.care.steps import (
    CareStep,
    CloseDeadRuns,
    DropLeftovers,
    ExpireSnapshots,
    FinishRemoval,
    LeaveAlone,
    PurgeDropped,
    ReapReleases,
    RefreshLayouts,
    Refuse,
    RemoveBranches,
    RemoveOrphans,
)
from lakebed.care.survey import LakeSurvey
from lakebed.derived.identity import KIND, unknown_kind
from lakebed.names import TableName, run_of_branch, run_of_hidden
from lakebed.ports import SOURCE_UUID
from lakebed.settings import SAFE_DAYS, CareSettings, TableCare
from lakebed.work import Plan


def plan_care(
    seen: LakeSurvey, request: CareRequest, settings: CareSettings, *, now: datetime
) -> Plan[CareStep]:
    """Everything that is due, or as much of it as was asked for. Nothing is published, so all of it
    comes `after`.
    """
    steps = [step for step in _due(seen, request, settings, now) if request.wants(step.action)]
    if seen.stock.in_the_way:
        steps = _refused(steps, str(seen.stock.in_the_way))
    return Plan(
        after=tuple(sorted(steps, key=lambda step: (ACTIONS.index(step.action), step.subject)))
    )


def _refused(steps: list[CareStep], why: str) -> list[CareStep]:
    """While a table points outside the lake, no table is written to and none of its files removed:
    each action is refused once.
    """
    kept = [step for step in steps if step.action not in OF_TABLES]
    refused = dict.fromkeys(step.action for step in steps if step.action in OF_TABLES)
    return [*kept, *(Refuse(refused=action, why=why) for action in refused)]


def _due(
    seen: LakeSurvey, request: CareRequest, settings: CareSettings, now: datetime
) -> Iterator[CareStep]:
    tables = {table: member for table, member in seen.stock.tables.items() if request.means(table)}
    yield from (step for step in _dead_runs(seen) if request.means(step.table))
    yield from (
        step for table, member in tables.items() for step in _of_table(table, member, seen, now)
    )
    yield from (
        step
        for step in (*_finishing(seen), *_dropped(seen, now), *_runs(seen, now))
        if request.means(step.table)
    )
    yield from _orphans(seen, request, settings, now)
    if request.tables is None:
        yield from _of_lake(seen, settings, now)


def _dead_runs(seen: LakeSurvey) -> Iterator[CloseDeadRuns]:
    dead: dict[TableName, tuple[str, ...]] = {}
    for run in seen.runs:
        if run.state == "running" and run.table not in seen.busy:
            dead[run.table] = (*dead.get(run.table, ()), run.run_id)
    for table, runs in dead.items():
        yield CloseDeadRuns(
            table=table, runs=runs, why="recorded as running, but nobody holds the table's lease"
        )


def _of_table(
    table: TableName, member: Member, seen: LakeSurvey, now: datetime
) -> Iterator[CareStep]:
    if member.metadata is None:
        return
    if table.temporary:
        yield from _leftovers(table, member, seen, now)
        return
    rules = seen.rules[table]
    if table.derived and (kind := unknown_kind(member.metadata)):
        why = f"a newer Lakebed has derived it, as {kind}: this version leaves it alone"
        yield LeaveAlone(table=table, waiting="drop_leftovers", why=why)
        return
    if _is_abandoned(table, member, seen, now):
        why = "the table that it was computed from was purged"
        yield DropLeftovers(table=table, hidden=table, why=why)
        return
    yield from _branches(table, member, seen, rules, now)
    if due := seen.layouts.get(table):
        why = "they are not as the table is"
        yield RefreshLayouts(table=table, layouts=tuple(due), batches=sum(due.values()), why=why)
    if table in seen.heads:
        yield from plan_compaction(
            table, member.metadata, seen.heads[table], rules, target=seen.targets[table]
        )
    ids = expirable(member.metadata, rules, kept=seen.kept, released=seen.released, now=now)
    if ids and table in seen.unread:
        yield LeaveAlone(
            table=table,
            waiting="expire_snapshots",
            why=f"its pipeline's settings for care cannot be read: {seen.unread[table]}",
        )
    elif ids:
        why = f"superseded more than {rules.snapshot_max_age_days:g} days ago"
        yield ExpireSnapshots(table=table, snapshots=ids, why=why)


def _branches(
    table: TableName, member: Member, seen: LakeSurvey, rules: TableCare, now: datetime
) -> Iterator[RemoveBranches]:
    limit = now - timedelta(hours=rules.dead_branch_max_age_hours)
    running = {run.run_id for run in seen.runs if run.state == "running"}
    metadata = member.metadata
    old: dict[str, int] = {}
    for name, ref in metadata.refs.items() if metadata else ():
        found = run_of_branch(name)
        head = metadata.snapshots.get(ref.snapshot) if metadata else None
        if found and found not in running and head and head.at < limit:
            old[name] = ref.snapshot
    if old:
        yield RemoveBranches(
            table=table,
            branches=old,
            why=f"their runs ended; older than {rules.dead_branch_max_age_hours:g} h",
        )


def _leftovers(
    table: TableName, member: Member, seen: LakeSurvey, now: datetime
) -> Iterator[DropLeftovers]:
    """Hidden tables of runs that ended."""
    found = run_of_hidden(table.name)
    run = next((run for run in seen.runs if found and run.run_id == found), None)
    owner = run.table if run else table
    limit = now - timedelta(hours=seen.rules[owner].dead_branch_max_age_hours)
    over = run is None or run.state != "running"
    if found and over and member.metadata and member.metadata.updated_at < limit:
        yield DropLeftovers(table=owner, hidden=table, why="its run ended")


def _is_abandoned(table: TableName, member: Member, seen: LakeSurvey, now: datetime) -> bool:
    """Whether it is a layout whose table is gone for good. One that cannot be read may be it."""
    metadata = member.metadata
    if not table.derived or metadata is None or KIND not in metadata.properties:
        return False
    if any(one.metadata is None for one in seen.stock.members):
        return False
    there = {one.uuid for one in seen.stock.members}
    limit = now - timedelta(hours=seen.rules[table].dead_branch_max_age_hours)
    return metadata.properties.get(SOURCE_UUID) not in there and metadata.updated_at < limit


def _finishing(seen: LakeSurvey) -> Iterator[FinishRemoval]:
    for removal in seen.removals:
        yield FinishRemoval(
            table=removal.name, removal=removal, why="an earlier care was interrupted"
        )


def _dropped(seen: LakeSurvey, now: datetime) -> Iterator[PurgeDropped | LeaveAlone]:
    for member in seen.stock.members:
        if gone := member.dropped:
            # what can be computed again is kept for those who still read it
            derived = member.metadata and KIND in member.metadata.properties
            days = SAFE_DAYS if derived else seen.rules[gone.table].dropped_max_age_days
            if gone.at >= now - timedelta(days=days) or gone.table in seen.unread:
                continue
            why = f"dropped more than {days:g} days ago"
            if holder := table_protected_by(member, seen.kept, seen.stock):
                why = f"{why}, and waits: {holder} protects a snapshot of it"
                yield LeaveAlone(table=gone.table, waiting="purge_dropped", why=why)
            else:
                yield PurgeDropped(table=gone.table, dropped=gone, why=why)


def _runs(seen: LakeSurvey, now: datetime) -> Iterator[CareStep]:
    for table, own in seen.runs_by_table.items():
        if table not in seen.unread:
            yield from purge_runs(
                table, own, seen.judged_runs.get(table, ()), seen.rules[table], now=now
            )


def _orphans(
    seen: LakeSurvey, request: CareRequest, settings: CareSettings, now: datetime
) -> Iterator[CareStep]:
    if seen.orphans.refused:
        why = f"no orphan is removed while a table cannot be read: {seen.orphans.refused}"
        yield Refuse(refused="remove_orphans", why=why)
    before = orphans_before(settings.orphan_file_max_age_days, now=now)
    report = not (request.removes_orphans or settings.remove_orphans)
    for folder, found in seen.orphans.found.items():
        leases = seen.orphans.leases[folder]
        if request.tables is None or any(str(table) in leases for table in request.tables):
            why = "no table reaches them" + ("; remove them with --orphans" if report else "")
            yield RemoveOrphans(
                folder=folder,
                files=found.files,
                bytes=found.bytes,
                before=before,
                leases=leases,
                report=report,
                why=why,
            )


def _of_lake(seen: LakeSurvey, settings: CareSettings, now: datetime) -> Iterator[CareStep]:
    runs = {run.run_id: run for run in seen.runs}
    for zone, files in seen.zones:
        yield from purge_processed(zone, files, now=now)
    for name, files in seen.quarantine.items():
        yield from purge_quarantine(name, files, runs, settings, now=now)
    for place, found in seen.staging.items():
        yield from purge_staging(place, found, runs, settings, now=now)
    for place, found in seen.logs.items():
        yield from purge_logs(place, found, runs, settings, now=now)
    yield from purge_events(seen, settings, now=now)
    if any(seen.reaping.counts.values()):
        why = "drafts, deleted pipelines and content past their retention"
        yield ReapReleases(found=seen.reaping.counts, bytes=seen.reaping.bytes, why=why)
