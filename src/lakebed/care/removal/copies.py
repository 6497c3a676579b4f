"""Removing copies of the ledger that are of no use any more."""

from collections.abc import Collection, Sequence
from datetime import datetime

from lakebed.landing import files_still_there
from lakebed.ports import Catalog, ConsumedFile, Files, Records
from lakebed.tables.ledger.copies import copies, read_copy


def remove_unneeded_copies(
    files: Files, catalog: Catalog, records: Records, *, before: datetime, dry_run: bool
) -> int:
    """Remove copies from before a time whose files are all gone: while one is in its zone or in
    `_processed/`, a lost database would let it be read again. Returns how many there were.
    """
    stored = copies(files)
    old = [run_id for run_id, file in stored.items() if file.modified < before]
    taken = _taken_by(old, files, catalog, records) if old else {}
    zones = sorted({row.zone for rows in taken.values() for row in rows}, key=str)
    there = [file for zone in zones for file in files.list(zone.folder)]
    remaining = files_still_there([row for rows in taken.values() for row in rows], there)
    needed = {row.run_id for row in remaining}
    unneeded = [run_id for run_id in old if run_id not in needed]
    for run_id in () if dry_run else unneeded:
        files.delete(stored[run_id].path)
    return len(unneeded)


def _taken_by(
    runs: Collection[str], files: Files, catalog: Catalog, records: Records
) -> dict[str, Sequence[ConsumedFile]]:
    """What these runs took: as the ledger has it, or else as their copies do."""
    wanted = set(runs)
    dropped = [gone.hidden_name for gone in catalog.dropped()]
    taken: dict[str, list[ConsumedFile]] = {}
    for table in (*catalog.pointers(), *dropped):
        for row in records.ledger(table):
            if row.run_id in wanted:
                taken.setdefault(row.run_id, []).append(row)
    copied = {run_id: read_copy(files, run_id) for run_id in wanted - taken.keys()}
    return {**taken, **copied}
