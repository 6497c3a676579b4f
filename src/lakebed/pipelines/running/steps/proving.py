"""Files that are checked by the job that writes their rows."""

from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.heal import take_back


def prove_files(run: ActiveRun) -> None:
    """Rows have been written: ask whether all were good.

    `BadFiles` if that is not certain; the run then starts over.
    """
    progress = run.progress
    for key, landed in progress.landed.items():
        progress.landed[key] = landed.proved(where=str(key[0]))
    if progress.read:
        progress.read = progress.read.proved(where=str(run.table))


def check_first(run: ActiveRun) -> None:
    """Take back what was written; the files will be checked before their rows are used."""
    take_back(run.progress.record, run.services, lease=run.held.require())
    run.services.ports.records.write(run.progress.begun)
    run.progress.start_over()
