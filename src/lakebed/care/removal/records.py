"""Removing what is past its retention and belongs to no table: staged files, logs, events, records
of runs, releases.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from lakebed.care.outcome import Done
from lakebed.care.removal.removal import delete_files
from lakebed.care.services import CareServices
from lakebed.care.steps import (
    PurgeEvents,
    PurgeFolders,
    PurgeLogs,
    PurgeRuns,
    PurgeStep,
    ReapReleases,
)
from lakebed.work import OnProgress

_AT_ONCE = 500


def remove_records(
    step: PurgeStep, services: CareServices, *, now: datetime, on_progress: OnProgress
) -> Done:
    """Carry out a step that needs no lease: nobody uses what it removes."""
    match step:
        case PurgeFolders(place=place, folders=folders):
            for folder in folders:
                services.staging[place].clear(folder)
            return Done(step.counts, step.size)
        case PurgeLogs(place=place, files=files):
            count = delete_files(
                services.logs[place], [file.path for file in files], on_progress=on_progress
            )
            return Done({"files": count}, step.size)
        case PurgeEvents(before=before):
            return Done(_remove_events(before, services))
        case PurgeRuns():
            return Done(_remove_runs(step, services))
        case ReapReleases():
            reaped = services.rooms.reap(now, dry_run=False)
            return Done(
                {name: count for name, count in reaped.counts.items() if count}, reaped.bytes
            )
        case _:
            assert_never(step)


def _remove_events(before: datetime, services: CareServices) -> Mapping[str, int]:
    return {
        "events": services.ports.events.delete(before=before),
        "entries": services.ports.care_log.delete(before=before),
        "publications": services.ports.catalog.delete_publications(before=before),
    }


def _remove_runs(step: PurgeRuns, services: CareServices) -> Mapping[str, int]:
    records = services.ports.records
    chunks = (step.runs[start : start + _AT_ONCE] for start in range(0, len(step.runs), _AT_ONCE))
    removed = sum(records.delete_runs(chunk) for chunk in chunks)
    for run_id in step.trim:
        if record := records.run(run_id):
            records.write(replace(record, verdicts=()))
    counts = {"runs": removed, "verdicts": len(step.trim)}
    return {name: count for name, count in counts.items() if count}
