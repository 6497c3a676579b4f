"""What snapshots prove of landing files is written down before they expire: which runs were
published, what they were made from, and what became of files of undone ones.
"""

from collections.abc import Collection, Iterable

from lakebed.care.services import CareServices
from lakebed.errors import FileMissing
from lakebed.names import TableName
from lakebed.ports import ConsumedFile, Files, TableMetadata
from lakebed.tables.ledger.copies import copy_path, write_copy
from lakebed.tables.ledger.decisions import LedgerDecision, decide_expiry, read_decisions


def decide_on_landing_files(
    table: TableName, metadata: TableMetadata, ids: Collection[int], services: CareServices
) -> LedgerDecision | None:
    """The decision to be recorded by the commit that removes these snapshots; None if the table has
    taken no landing files.
    """
    ledger = services.ports.records.ledger(table)
    if not ledger:
        return None
    recorded = services.ports.records.descents(metadata.uuid)
    kept = {snapshot.run_id for snapshot in metadata.snapshots.values()}
    proved = {descent.run_id for descent in recorded} - kept
    if {file.run_id for file in ledger} - kept - proved:
        # runs that never had a snapshot, or whose snapshot another tool has expired
        proved |= read_decisions(services.ports.files, metadata).published
    decision = decide_expiry(metadata, ids, ledger, recorded, proved=proved)
    if decision:
        _write_missing_copies(services.ports.files, decision.published, ledger)
    return decision


def _write_missing_copies(
    files: Files, runs: Collection[str], ledger: Iterable[ConsumedFile]
) -> None:
    """Earlier versions removed copies by their age."""
    by_run: dict[str, list[ConsumedFile]] = {}
    for file in ledger:
        by_run.setdefault(file.run_id, []).append(file)
    for run_id in runs:
        try:
            files.info(copy_path(run_id))
        except FileMissing:
            write_copy(files, run_id, by_run[run_id])
