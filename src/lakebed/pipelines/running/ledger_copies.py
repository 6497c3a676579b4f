"""Copies of the ledger among the lake's files, one for each run: after a restore they tell which
files runs took since the backup.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime

from lakebed.errors import DamagedTable
from lakebed.names import TableName, ZoneName, run_of_branch
from lakebed.ports import Catalog, ConsumedFile, Files, PublicationRecords, Records, TableMetadata
from lakebed.settings import DATA
from lakebed.tables import publish

FOLDER = f"{DATA}/ledger"


def write_copy(files: Files, run_id: str, taken: Sequence[ConsumedFile]) -> None:
    """Write the copy before the run is published. If it is never published, its rows are in no
    table, and the copy is not used.
    """
    if taken:
        rows = [asdict(file) | {"table": str(file.table), "zone": str(file.zone)} for file in taken]
        files.write(f"{FOLDER}/{run_id}.json", json.dumps(rows, ensure_ascii=False).encode())


def remove_old_copies(files: Files, *, before: datetime, dry_run: bool) -> int:
    """Remove copies that are too old to be needed: no backup from before them will be restored.
    Returns how many there were.
    """
    old = [file.path for file in files.list(FOLDER) if file.modified < before]
    for path in () if dry_run else old:
        files.delete(path)
    return len(old)


def restore_ledger(files: Files, catalog: Catalog, records: Records) -> int:
    """Add to the ledger the files of runs whose rows are in tables but which the ledger does not
    have. Returns how many files.
    """
    copied = {
        file.path.removeprefix(f"{FOLDER}/").removesuffix(".json") for file in files.list(FOLDER)
    }
    tables = dict(_readable(catalog)) if copied else {}
    by_run: dict[str, list[TableName]] = {}
    for table, metadata in tables.items():
        for run_id in (_runs(metadata) & copied) - {row.run_id for row in records.ledger(table)}:
            by_run.setdefault(run_id, []).append(table)
    count = 0
    for run_id in sorted(by_run):
        rows = [row for table in by_run[run_id] for row in _taken(files, run_id, table, tables)]
        publish(catalog, [], run_id=run_id, records=PublicationRecords((), tuple(rows)))
        count += len(rows)
    return count


def _readable(catalog: Catalog) -> Iterator[tuple[TableName, TableMetadata]]:
    for table, pointer in catalog.pointers().items():
        if table.derived:
            continue  # its rows are its source's, and so are the files they came from
        with suppress(DamagedTable):
            yield table, catalog.metadata([pointer])[table]


def _runs(metadata: TableMetadata) -> set[str]:
    """The runs whose rows are in the table, on any branch except those of runs, which were not
    published.
    """
    refs = [ref for ref in metadata.refs.values() if run_of_branch(ref.name) is None]
    return {one.run_id for ref in refs for one in metadata.ancestry(ref.snapshot) if one.run_id}


def _taken(
    files: Files, run_id: str, table: TableName, tables: Collection[TableName]
) -> Iterator[ConsumedFile]:
    """What a run took into a table; if the table it took them for no longer exists, that one was
    renamed or cloned.
    """
    for row in json.loads(files.read(f"{FOLDER}/{run_id}.json")):
        named = TableName.parse(row["table"])
        if named == table or named not in tables:
            yield ConsumedFile(**row | {"table": table, "zone": ZoneName(*row["zone"].split("."))})
