"""Carrying out what is due: each step under its lease, each written down, none stopping the others."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime

from lakebed.care.compaction import compact
from lakebed.care.outcome import CareListener, CareResult, Done
from lakebed.care.plan import plan_care
from lakebed.care.removal.dropped import drop_leftovers, purge
from lakebed.care.removal.expiry import expire, finish
from lakebed.care.removal.orphans import purge_processed, remove_orphans
from lakebed.care.removal.purges import (
    PurgeEvents,
    PurgeFolders,
    PurgeLogs,
    PurgeProcessed,
    PurgeRuns,
    ReapReleases,
    RemoveOrphans,
)
from lakebed.care.removal.removal import OnProgress, delete_files
from lakebed.care.services import CareServices
from lakebed.care.spec import CareRequest
from lakebed.care.steps import (
    CloseDeadRuns,
    CompactFiles,
    DropLeftovers,
    ExpireSnapshots,
    FinishRemoval,
    LeaveAlone,
    PurgeDropped,
    Refuse,
    RemoveBranches,
    RewriteManifests,
    Step,
)
from lakebed.care.survey import LakeSurvey, look_around
from lakebed.errors import LakebedError, LeaseHeld
from lakebed.ports import Along, CareEntry, CareState, Event, RemoveRef
from lakebed.tables import HeldLease, amend, settle_publications

_AT_ONCE = 500


def take_care(tools: CareServices, request: CareRequest, *, now: datetime, onlooker: CareListener | None = None) -> CareResult:
    """Look, decide, do. A dry run ends before the last."""
    told = onlooker or CareListener()
    seen = look_around(tools, request, now=now)
    steps = plan_care(seen, request, tools.settings.care, now=now)
    told.on_plan(steps)
    work = _Work(tools, seen, now, told)
    return CareResult(tuple(work.report(step) if request.dry_run else work.carry_out(step) for step in steps), steps)


class _Work:
    """One care, step by step."""

    def __init__(self, tools: CareServices, seen: LakeSurvey, now: datetime, told: CareListener) -> None:
        self._tools, self._seen, self._now, self._told = tools, seen, now, told

    def report(self, step: Step) -> CareEntry:
        """The step as it would be done."""
        entry = self._entry(step, "reported", Done(step.counts, step.size, step.why), 0.0)
        self._told.on_end(entry)
        return entry

    def carry_out(self, step: Step) -> CareEntry:
        """Do it and write it down; whoever has the table is not disturbed, and a failure is the step's own."""
        began = time.monotonic()
        self._told.on_start(step)
        state: CareState = "done"
        try:
            if isinstance(step, Refuse | LeaveAlone) or (isinstance(step, RemoveOrphans) and step.report):
                state, done = self._left(step), Done(step.counts, step.size, step.why)
            else:
                done = self._do(step, self._told.on_progress)
        except LeaseHeld as held:
            state, done = "skipped", Done({}, message=held.what)
        except LakebedError as error:
            state, done = "failed", Done({}, message=str(error))
        except Exception as error:  # whatever else an engine says: the other steps have nothing to do with it
            state, done = "failed", Done({}, message=f"{type(error).__name__}: {error}")
        entry = self._entry(step, state, done, time.monotonic() - began)
        if state != "reported":  # nothing was done, and the next look finds it again
            self._tools.log.write(entry)
        self._told.on_end(entry)
        return entry

    def _left(self, step: Step) -> CareState:
        return "failed" if isinstance(step, Refuse) else "skipped" if isinstance(step, LeaveAlone) else "reported"

    def _entry(self, step: Step, state: CareState, done: Done, seconds: float) -> CareEntry:
        return CareEntry(
            step.action, step.subject, state, self._now, dict(done.counts), done.bytes, round(seconds, 3), done.message
        )

    def _do(self, step: Step, on_progress: OnProgress) -> Done:
        match step:
            case PurgeFolders() | PurgeLogs() | PurgeEvents() | ReapReleases() | PurgeRuns():
                return self._purge(step, on_progress)
            case RemoveOrphans():
                return remove_orphans(step, self._tools, on_progress=on_progress)
            case PurgeProcessed():
                return self._purge_processed(step, on_progress)
            case _:
                with self._tools.holding(step.subject) as held:
                    return self._do_held(step, held, on_progress)

    def _do_held(self, step: Step, held: HeldLease, on_progress: OnProgress) -> Done:
        tools = self._tools
        match step:
            case CloseDeadRuns(table=table):
                return Done({"runs": tools.heal(table, held.require())})
            case RemoveBranches():
                return self._remove_branches(step, held)
            case DropLeftovers():
                settle_publications(tools.catalog)
                held.require()
                return drop_leftovers(step, tools)
            case FinishRemoval():
                return finish(step, tools, on_progress=on_progress)
            case ExpireSnapshots(table=table):
                rules = self._seen.rules[table]
                return expire(step, rules, tools, held, now=self._now, on_progress=on_progress)
            case PurgeDropped():
                return purge(step, tools, now=self._now, on_progress=on_progress)
            case CompactFiles() | RewriteManifests():
                return compact(step, tools, held, on_progress=on_progress)
            case _:
                raise AssertionError(f"no way to do {step}")

    def _remove_branches(self, step: RemoveBranches, held: HeldLease) -> Done:
        events = tuple(Event("branch_removed", step.table, snapshot, {"ref": name}) for name, snapshot in step.branches.items())
        amendments = [RemoveRef(name) for name in step.branches]
        amend(self._tools.catalog, step.table, amendments, leases=[held.require()], records=Along(events=events))
        return Done(step.counts)

    def _purge_processed(self, step: PurgeProcessed, on_progress: OnProgress) -> Done:
        """A full refresh reads these files: while one goes on, they stay."""
        with ExitStack() as leases:
            for table in sorted(step.readers):
                leases.enter_context(self._tools.holding(str(table)))
            return purge_processed(step, self._tools, on_progress=on_progress)

    def _purge(self, step: Step, on_progress: OnProgress) -> Done:
        tools = self._tools
        match step:
            case PurgeFolders(place=place, folders=folders):
                for folder in folders:
                    tools.staging[place].clear(folder)
                return Done(step.counts, step.size)
            case PurgeLogs(place=place, files=files):
                count = delete_files(tools.logs[place], [file.path for file in files], on_progress=on_progress)
                return Done({"files": count}, step.size)
            case PurgeEvents(before=before):
                return Done({"events": tools.events.delete(before=before), "entries": tools.log.delete(before=before)})
            case PurgeRuns():
                return Done(self._purge_runs(step))
            case _:
                reaped = tools.reap(self._now, False)
                return Done({name: count for name, count in reaped.counts.items() if count}, reaped.bytes)

    def _purge_runs(self, step: PurgeRuns) -> Mapping[str, int]:
        records = self._tools.records
        chunks = (step.runs[start : start + _AT_ONCE] for start in range(0, len(step.runs), _AT_ONCE))
        gone = sum(records.delete_runs(chunk) for chunk in chunks)
        for run_id in step.trim:
            if record := records.run(run_id):
                records.write(replace(record, verdicts=()))
        return {name: count for name, count in (("runs", gone), ("verdicts", len(step.trim))) if count}
