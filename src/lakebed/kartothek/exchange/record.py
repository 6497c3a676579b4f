"""What the last export of a table to a dataset wrote: the labels of each of the table's files.

The record is a file beside the data. The dataset's metadata names it, so it changes in the same
commit; each export writes a new one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

from lakebed.errors import FileMissing
from lakebed.kartothek.format.names import OWN_FOLDER
from lakebed.kartothek.format.state import EXPORT, DatasetState
from lakebed.ports.files.files import Files


@dataclass(frozen=True)
class ExportRecord:
    """`files` maps the key of a table's file to the labels of the partitions with its rows."""

    table: str
    table_uuid: str
    snapshot: int | None
    files: Mapping[str, tuple[str, ...]]

    @property
    def labels(self) -> frozenset[str]:
        return frozenset(label for labels in self.files.values() for label in labels)


def new_record_path(uuid: str) -> str:
    return f"{uuid}/{OWN_FOLDER}/export-{uuid4().hex}.json"


def record_document(record: ExportRecord) -> bytes:
    return json.dumps(
        {
            "table": record.table,
            "table_uuid": record.table_uuid,
            "snapshot": record.snapshot,
            "files": {key: list(labels) for key, labels in record.files.items()},
        }
    ).encode()


def load_record(files: Files, state: DatasetState) -> ExportRecord | None:
    """The record that the dataset names; None if it names none, or it is lost or damaged."""
    path = state.metadata.get(EXPORT)
    if path is None:
        return None
    try:
        found = json.loads(files.read(path))
        labels = {key: tuple(one) for key, one in found["files"].items()}
        return ExportRecord(found["table"], found["table_uuid"], found["snapshot"], labels)
    except (FileMissing, ValueError, KeyError, TypeError, AttributeError):
        return None
