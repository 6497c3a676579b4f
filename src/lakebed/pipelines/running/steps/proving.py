"""Files that are checked by the job that writes their rows."""

from dataclasses import replace

from lakebed.errors import BadFiles
from lakebed.landing import ZoneRows
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.heal import take_back


def prove_files(run: ActiveRun) -> None:
    """Rows have been written: ask whether all were good.

    `BadFiles` if that is not certain; the run then starts over.
    """
    progress = run.progress
    for key, landed in progress.landed.items():
        progress.landed[key] = _proved(landed, where=str(key[0]))
    if progress.read:
        progress.read = _proved(progress.read, where=str(run.table))


def _proved(landed: ZoneRows, *, where: str) -> ZoneRows:
    if landed.prove is None:
        return landed
    checked = landed.prove()
    if checked is None:
        raise BadFiles("not all values were as they seemed.", where=where)
    return replace(landed, checked=checked, prove=None)


def check_first(run: ActiveRun) -> None:
    """Take back what was written; the files will be checked before their rows are used."""
    take_back(run.progress.record, run.services, lease=run.held.require())
    run.services.records.write(run.progress.begun)
    run.progress.start_over()
