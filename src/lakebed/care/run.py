"""Carrying out what is due: each step under its lease, each recorded, none stopping the others."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import assert_never

from lakebed.care.compaction import compact
from lakebed.care.outcome import CareListener, CareResult, Done
from lakebed.care.plan import plan_care
from lakebed.care.removal.dropped import drop_leftovers, purge
from lakebed.care.removal.expiry import expire, finish
from lakebed.care.removal.orphans import purge_landing, remove_orphans
from lakebed.care.removal.records import remove_records
from lakebed.care.selection import care_request
from lakebed.care.services import CareServices
from lakebed.care.spec import CareRequest
from lakebed.care.steps import (
    CareStep,
    CloseDeadRuns,
    CompactFiles,
    DropLeftovers,
    ExpireSnapshots,
    FinishRemoval,
    LeasedStep,
    LeaveAlone,
    PurgeDropped,
    PurgeEvents,
    PurgeFolders,
    PurgeLogs,
    PurgeProcessed,
    PurgeQuarantine,
    PurgeRuns,
    ReapReleases,
    RefreshLayouts,
    Refuse,
    RemoveBranches,
    RemoveOrphans,
    RewriteManifests,
)
from lakebed.care.survey import LakeSurvey, look_around
from lakebed.derived.building.steps import LayoutListener
from lakebed.errors import LakebedError, LeaseHeld
from lakebed.names import TableName
from lakebed.ports import CareEntry, CareState, ChangeRecords, Event, RemoveRef
from lakebed.tables import HeldLease, amend, settle_publications
from lakebed.work import Ended, Executor

_AFTER_COMMITS = ("compact_files", "rewrite_manifests", "expire_snapshots")


def take_care(
    services: CareServices,
    request: CareRequest,
    *,
    now: datetime,
    listener: CareListener | None = None,
) -> CareResult:
    """Look, decide, do. A dry run stops before the last."""
    listener = listener or CareListener()
    survey = look_around(services, request, now=now)
    plan = plan_care(survey, request, services.ports.settings.care, now=now)
    listener.on_plan(plan)
    care = _Care(services, survey, now, listener)
    carry_out = care.report if request.dry_run else care.executor.attempt
    return CareResult(tuple(map(carry_out, plan.steps)), plan.steps)


def care_after_commits(
    services: CareServices, table: TableName, held: HeldLease
) -> tuple[CareEntry, ...]:
    """What is due once a table has got many commits, done by the holder of its lease."""
    own = replace(services, held={str(table): held})
    request = care_request(own, [str(table)], dry_run=False, only=_AFTER_COMMITS, orphans=False)
    return take_care(own, request, now=datetime.now(UTC)).entries


@dataclass(frozen=True)
class _Care:
    """One care of a lake."""

    services: CareServices
    survey: LakeSurvey
    now: datetime
    listener: CareListener

    @property
    def executor(self) -> Executor[CareStep, Done, CareEntry]:
        return Executor(self.perform, self.record, listener=self.listener)

    def report(self, step: CareStep) -> CareEntry:
        """The step as it would be done."""
        entry = self._entry(step, _left(step, state="reported"), 0.0)
        self.listener.on_end(step, entry)
        return entry

    def record(self, step: CareStep, ended: Ended[Done]) -> CareEntry:
        """Record how a step ended, unless it only reported: the next care finds that again."""
        entry = self._entry(step, ended.result or _failed(ended.error), ended.seconds)
        if entry.state != "reported":
            self.services.ports.care_log.write(entry)
        return entry

    def _entry(self, step: CareStep, done: Done, seconds: float) -> CareEntry:
        counts, rounded = dict(done.counts), round(seconds, 3)
        return CareEntry(
            step.action,
            step.subject,
            done.state,
            self.now,
            counts,
            done.bytes,
            rounded,
            done.message,
        )

    def perform(self, step: CareStep) -> Done:
        """Carry out one step; `LeaseHeld` if another process is working on the table."""
        services, on_progress = self.services, self.listener.on_progress
        match step:
            case Refuse():
                return _left(step, state="failed")
            case LeaveAlone():
                return _left(step, state="skipped")
            case RemoveOrphans(report=True):
                return _left(step, state="reported")
            case RemoveOrphans():
                return remove_orphans(step, services, on_progress=on_progress)
            case RefreshLayouts():
                return self._refresh_layouts(step)
            case PurgeProcessed():
                return self._purge_processed(step)
            case PurgeQuarantine():
                return purge_landing(step, services, on_progress=on_progress)
            case PurgeFolders() | PurgeLogs() | PurgeEvents() | ReapReleases() | PurgeRuns():
                return remove_records(step, services, now=self.now, on_progress=on_progress)
            case (
                CloseDeadRuns()
                | RemoveBranches()
                | DropLeftovers()
                | FinishRemoval()
                | ExpireSnapshots()
                | PurgeDropped()
                | CompactFiles()
                | RewriteManifests()
            ):
                with services.holding(step.subject) as held:
                    return self._perform_leased(step, held)
            case _:
                assert_never(step)

    def _perform_leased(self, step: LeasedStep, held: HeldLease) -> Done:
        services, now, on_progress = self.services, self.now, self.listener.on_progress
        match step:
            case CloseDeadRuns(table=table):
                return Done({"runs": services.rooms.heal(table, held.require())})
            case RemoveBranches():
                return self._remove_branches(step, held)
            case DropLeftovers():
                settle_publications(services.ports.catalog)
                held.require()
                return drop_leftovers(step, services)
            case FinishRemoval():
                return finish(step, services, on_progress=on_progress)
            case ExpireSnapshots(table=table):
                rules = self.survey.rules[table]
                return expire(step, rules, services, held, now=now, on_progress=on_progress)
            case PurgeDropped():
                return purge(step, services, now=now, on_progress=on_progress)
            case CompactFiles() | RewriteManifests():
                return compact(step, services, held, on_progress=on_progress)
            case _:
                assert_never(step)

    def _remove_branches(self, step: RemoveBranches, held: HeldLease) -> Done:
        events = tuple(
            Event("branch_removed", step.table, snapshot, {"ref": name})
            for name, snapshot in step.branches.items()
        )
        amendments = [RemoveRef(name) for name in step.branches]
        records = ChangeRecords(events=events)
        amend(
            self.services.ports.catalog,
            step.table,
            amendments,
            leases=[held.require()],
            records=records,
        )
        return Done(step.counts)

    def _refresh_layouts(self, step: RefreshLayouts) -> Done:
        """Builders hold leases of batches, not the table's: runs go on meanwhile."""
        listener = LayoutListener(on_progress=self.listener.on_progress)
        done = self.services.rooms.layouts.build(step.table, listener=listener)
        failed = [f"{build.name}: {build.error}" for build in done if build.error]
        counts = {
            "layouts": sum(build.changed for build in done),
            "batches": sum(build.built + build.removed for build in done),
        }
        return Done(
            {name: count for name, count in counts.items() if count},
            sum(build.bytes for build in done),
            "; ".join(failed),
            "failed" if failed else "done",
        )

    def _purge_processed(self, step: PurgeProcessed) -> Done:
        """A full refresh reads these files: while one is running, they stay."""
        with ExitStack() as leases:
            for table in sorted(step.readers):
                leases.enter_context(self.services.holding(str(table)))
            return purge_landing(step, self.services, on_progress=self.listener.on_progress)


def _left(step: CareStep, *, state: CareState) -> Done:
    """The outcome of a step that is not carried out: what it would do, and why."""
    return Done(step.counts, step.size, step.why, state)


def _failed(error: BaseException | None) -> Done:
    """How a failed step is recorded; a table leased by another process is only skipped."""
    match error:
        case LeaseHeld():
            return Done({}, message=error.what, state="skipped")
        case LakebedError():
            return Done({}, message=str(error), state="failed")
        case _:  # any other exception of an engine affects only this step
            return Done({}, message=f"{type(error).__name__}: {error}", state="failed")
