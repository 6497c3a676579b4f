"""Cleaning up after runs that died: the holder of a table's lease knows that no other run of it is
alive.
"""

from collections.abc import Sequence
from dataclasses import replace

from lakebed.names import TableName, run_of_branch
from lakebed.pipelines.planning.hidden_tables import hidden_table, replay_table, staged_table
from lakebed.pipelines.services import RunServices
from lakebed.ports import Lease, RemoveRef, RunRecord, SetSchema
from lakebed.settings import DATA
from lakebed.tables import schema_to_restore, settle_alters, settle_publications, settle_times
from lakebed.tables.adopting.names import names_to_restore
from lakebed.tables.ledger.copies import copy_path
from lakebed.work import retry

_DIED = {
    "what": "the process that ran it died.",
    "safe": "The table is unchanged.",
    "next": "The next run takes its place.",
}


def heal(table: TableName, services: RunServices, *, lease: Lease) -> tuple[RunRecord, ...]:
    """Remove what dead runs of a table left behind, restore its schema, and close their records;
    returns the records. Times that a clock wrote ahead are set right.
    """
    catalog, records = services.ports.catalog, services.ports.records
    settle_publications(catalog)
    altered = settle_alters(catalog, records, services.ports.leases, table=table)
    dead = records.runs(table=table, state="running", limit=1000)
    _restore(table, dead, services, leases=[lease], branches=True)
    settle_times(catalog, table, now=services.ports.leases.store_time(), leases=[lease])
    for record in dead:
        drop_leftovers(record, services)
        died = _DIED | ({"safe": _published(record)} if record.batches else {})
        records.write(replace(record, state="failed", ended_at=services.ports.now(), error=died))
    if dead:
        records.unpin([record.run_id for record in dead])
    return (*altered, *dead)


def _published(record: RunRecord) -> str:
    done = sum(batch.state == "success" for batch in record.batches)
    return f"The {done} batches that it had published stand."


def _restore(
    table: TableName,
    ended: Sequence[RunRecord],
    services: RunServices,
    *,
    leases: Sequence[Lease],
    branches: bool = False,
) -> None:
    """Undo what unpublished runs did to a table, newest first; changes that others have made since
    stay.
    """
    catalog = services.ports.catalog
    schema = next((record.schema for record in reversed(ended) if record.schema is not None), None)
    touched = [name for record in ended for name in record.touched]

    def attempt() -> None:
        seen = catalog.pointers([table])
        if table not in seen:
            return
        metadata = catalog.metadata(seen.values())[table]
        former = schema_to_restore(metadata, schema, touched=touched, reshaped=not catalog.atomic)
        refs = (
            [RemoveRef(name) for name in metadata.refs if run_of_branch(name)] if branches else []
        )
        names = names_to_restore(metadata)
        schemas = (SetSchema(former),) if former is not None else ()
        if amendments := (*refs, *schemas, *names):
            catalog.amend(table, amendments, expected=seen[table], leases=leases)

    retry(attempt)


def drop_leftovers(record: RunRecord, services: RunServices) -> None:
    """Remove the hidden tables of a run that will not be published."""
    for hidden in (staged_table, replay_table, hidden_table):
        services.ports.catalog.purge(hidden(record.table, record.run_id))


def undo_failed_run(record: RunRecord, services: RunServices, *, lease: Lease | None) -> None:
    """Clean up after a failed run: its branch stays for inspection, the former schema is restored,
    hidden tables are removed, and so is its copy of the ledger: nothing will ever prove it.
    """
    drop_leftovers(record, services)
    if not record.batches:  # of batches that were published before
        services.ports.files.delete(copy_path(record.run_id))
    if record.schema is not None:
        _restore(record.table, [record], services, leases=[lease] if lease else [])


def take_back(record: RunRecord, services: RunServices, *, lease: Lease) -> None:
    """Undo all that a run has done to its table so far, its branch included: it starts over."""
    drop_leftovers(record, services)
    _restore(record.table, [record], services, leases=[lease], branches=True)


def read_log(run_id: str, services: RunServices) -> str:
    """What a run logged: on this machine, or kept in the bucket by another."""
    log = services.engines.log(run_id)
    if log.exists():
        return log.read_text()
    return services.ports.files.read(f"{DATA}/logs/runs/{log.name}").decode()
