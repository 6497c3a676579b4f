"""Copies of the ledger among the lake's files, one for each run: should the database be lost, they
tell which files the run took.

A copy is written before its run is published, so it does not prove that the run was. That is proved
by a snapshot of the run that the table contains, or by a decision (see `decisions`).
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from lakebed.names import TableName, ZoneName
from lakebed.ports import ConsumedFile, FileInfo, Files
from lakebed.settings import DATA

FOLDER = f"{DATA}/ledger"


def write_copy(files: Files, run_id: str, taken: Sequence[ConsumedFile]) -> None:
    """Write what a run takes, if it takes anything."""
    if taken:
        rows = [_row(file) for file in taken]
        files.write(copy_path(run_id), json.dumps(rows, ensure_ascii=False).encode())


def read_copy(files: Files, run_id: str) -> tuple[ConsumedFile, ...]:
    """What a run took, if it was published."""
    rows = json.loads(files.read(copy_path(run_id)))
    return tuple(_file(row) for row in rows)


def copies(files: Files) -> dict[str, FileInfo]:
    """All copies, by the runs that wrote them."""
    present = (file for file in files.list(FOLDER) if file.path.count("/") == FOLDER.count("/") + 1)
    return {file.path.rpartition("/")[2].removesuffix(".json"): file for file in present}


def copy_path(run_id: str) -> str:
    return f"{FOLDER}/{run_id}.json"


def _row(file: ConsumedFile) -> dict[str, Any]:
    row = asdict(file) | {"table": str(file.table), "zone": str(file.zone)}
    del row["snapshot"]  # earlier versions read copies too, and do not know it
    return row


def _file(row: dict[str, Any]) -> ConsumedFile:
    names = {"table": TableName.parse(row["table"]), "zone": ZoneName(*row["zone"].split("."))}
    return ConsumedFile(**row | names)
