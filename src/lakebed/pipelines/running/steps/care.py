"""Care of a table that has got many commits, by the run that made them: it holds the lease."""

from lakebed.pipelines.running.active_run import ActiveRun


def take_care(run: ActiveRun) -> None:
    """Do what is due. What fails here is repeated by the next care."""
    published = any(batch.state == "success" for batch in run.progress.record.batches)
    if run.services.care is None or not published:
        return
    for entry in run.services.care(run.table, run.held):
        run.log.info("care: %s of %s: %s", entry.action, entry.subject, entry.state)
