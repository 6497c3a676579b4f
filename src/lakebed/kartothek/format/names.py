"""Names and paths of a dataset's files, as the specification gives them.

sales.by-dataset-metadata.json                              the state, replaced by each commit
sales/table/_common_metadata                                the schema of a table
sales/table/country=DE/481a77f0.parquet                     a data file
sales/indices/item/2026-11-15T05%3A53….by-dataset-index.parquet    an inverted index
"""

import re
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from urllib.parse import quote

from lakebed.errors import UnsupportedDataset
from lakebed.name_rules import NameRule

DEFAULT_TABLE = "table"
INDEX_FOLDER = "indices"
SCHEMA_FILE = "_common_metadata"
COMMIT_NOTES = "commits"  # in the folder of our own: a note of each of our last commits
OWN_FOLDER = "lakebed"  # in a dataset's folder: records that only Lakebed reads
_METADATA = ".by-dataset-metadata."
_INDEX_SUFFIX = ".by-dataset-index.parquet"
_COMPONENT = re.compile(r"[A-Za-z0-9+_-]+")
DATASET_NAMES = NameRule(
    "Kartothek dataset",
    r"[A-Za-z0-9+_-]+",
    "letters, digits, +, - and _ are allowed in it, nothing else",
)
DATASET_TABLES = replace(
    DATASET_NAMES,
    kinds="table of a Kartothek dataset",
    reserved=(INDEX_FOLDER, OWN_FOLDER),
    why_reserved="indices or Lakebed's own records are in that folder",
)
_WRITTEN = re.compile(r"([^/]+/)+[0-9a-f]{32}\.parquet")  # by us and by plateau


class MetadataFormat(StrEnum):
    """How the state is written; the value is the suffix of its file."""

    JSON = "json"
    MSGPACK = "msgpack.zstd"


class DataFormat(StrEnum):
    """How a data file is written; the value is its suffix."""

    PARQUET = "parquet"
    CSV = "csv"


_DATA_FORMATS = {str(format): format for format in DataFormat}


def require_uuid(uuid: str) -> str:
    """The name of a dataset itself, if the specification allows it."""
    return DATASET_NAMES.require("dataset", uuid)


def require_table(table: str) -> str:
    """The name of a dataset's table itself, if the specification allows it."""
    return DATASET_TABLES.require("dataset's table", table)


def metadata_path(uuid: str, format: MetadataFormat) -> str:
    return f"{uuid}{_METADATA}{format}"


def dataset_of(path: str) -> str | None:
    """The dataset whose state a file holds; None for any other file."""
    uuid, found, suffix = path.partition(_METADATA)
    is_name = re.fullmatch(DATASET_NAMES.pattern, uuid)
    return uuid if found and is_name and suffix in list(MetadataFormat) else None


def schema_path(uuid: str, table: str) -> str:
    return f"{uuid}/{table}/{SCHEMA_FILE}"


def data_path(uuid: str, table: str, label: str) -> str:
    return f"{uuid}/{table}/{label}.{DataFormat.PARQUET}"


def data_format(path: str) -> DataFormat:
    """The format of a data file by its suffix; `UnsupportedDataset` names any other suffix."""
    suffix = path.rpartition("/")[2].rpartition(".")[2]
    if suffix not in _DATA_FORMATS:
        known = " and ".join(f".{format}" for format in DataFormat)
        raise UnsupportedDataset(
            path, f"files with the suffix .{suffix} are not read; {known} are."
        )
    return _DATA_FORMATS[suffix]


def index_path(uuid: str, column: str, at: datetime) -> str:
    """The path of an index written at a moment, which is part of the name in UTC."""
    moment = at.astimezone(UTC).isoformat(timespec="microseconds")
    return f"{uuid}/{INDEX_FOLDER}/{url_quoted(column)}/{url_quoted(moment)}{_INDEX_SUFFIX}"


def is_dataset_file(path: str) -> bool:
    """Whether a file in the folder of a dataset has a name that writers of datasets give."""
    name = path.rpartition("/")[2]
    if path.split("/")[1:2] == [OWN_FOLDER]:
        return True
    return name == SCHEMA_FILE or name.endswith(_INDEX_SUFFIX) or bool(_WRITTEN.fullmatch(path))


def url_quoted(text: str | bytes) -> str:
    """URL-encoded, `/` and `=` too: plateau reads them, though it leaves `/` as it is."""
    return quote(text, safe="")


def clashing(uuid: str, names: tuple[str, ...]) -> str | None:
    """The first of a location's names that begins with this uuid, though it is another one."""
    return next((name for name in names if name.startswith(uuid) and name != uuid), None)
