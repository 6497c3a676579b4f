"""What a run publishes: the moves it asks for, and the rows that go along with them."""

from contextlib import suppress
from dataclasses import replace

from lakebed.errors import BadPipeline, FileMissing, RunFailed
from lakebed.landing import digests, is_archived, recheck
from lakebed.pipelines.planning.compile import compile_view
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.archiving import taken
from lakebed.pipelines.running.steps.gates import refuse_blocked
from lakebed.pipelines.running.steps.zone_types import learned
from lakebed.ports import Along
from lakebed.tables import PublishRequest, text


def ask(work: ActiveRun) -> tuple[PublishRequest, ...]:
    """What is to be published; refused where a gate says no, or a file is not what was read."""
    refuse_blocked(work)
    for (zone, _), landed in work.landed.items():
        here = tuple(file for file in landed.files if not is_archived(file))
        with suppress(FileMissing):  # as is told below
            work.digests |= digests(work.tools.ground.files, here, work.tools.records.consumed(zone, table=work.table))
        recheck(work.tools.ground.files, landed.files)  # last: what was hashed is what was read
    if work.spec.is_view or work.skip_write:
        return ()
    if work.first:
        return (PublishRequest(work.written, work.branch, ref=work.order.ref, becomes=work.table),)
    change, base = work.change, work.setting.target.base(work.order.ref)
    asked = PublishRequest(work.table, work.branch, ref=work.order.ref, columns=change.final, renames=change.renames, base=base)
    return (replace(asked, unchanged=work.unchanged),)


def along(work: ActiveRun) -> Along:
    """What goes into the books together with the publication."""
    head = None if work.unchanged or work.spec.is_view else work.head()
    work.record = replace(
        work.record,
        state="success",
        snapshot=head.id if head else None,
        files={str(zone): len(landed.files) for (zone, _), landed in work.landed.items()},
        verdicts=tuple(work.verdicts),
        ended_at=work.tools.now(),
        message="nothing changed" if work.unchanged else work.record.message,
    )
    return Along((work.record,), taken(work), types=learned(work))


def create_view(work: ActiveRun) -> None:
    """Make the query a view of the catalog; refused with the reason where it has none."""
    view = compile_view(work.setting)
    if work.tools.ground.catalog.pointers([work.table]):
        raise BadPipeline(
            f"{work.table} is a table, with rows and a history, and would have to become a view.",
            where=work.spec.file,
            next=f"Drop the table first (it can be restored): lakebed table drop {work.table}",
        )
    comment = f" COMMENT {text(work.spec.config.description)}" if work.spec.config.description else ""
    try:
        work.compute.execute(f"CREATE OR REPLACE VIEW {work.table.spark}{comment} AS\n{view.text}")
    except RunFailed as error:
        if "not support" not in error.what:
            raise
        what = f"the catalog {work.tools.ground.catalog.where} has no views: {error.what}"
        raise BadPipeline(what, where=work.spec.file, next="Set materialized: table.") from error
