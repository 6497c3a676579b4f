"""Manifests of files that others wrote: how they become part of a table as they are.

PyIceberg's own `add_files` takes partition values from statistics of the column, which the files of
a Hive partition do not have, and keeps all files in memory.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any

from pyiceberg.conversions import to_bytes
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestFile
from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
from pyiceberg.table.snapshots import Operation
from pyiceberg.typedef import Record
from pyiceberg.types import DecimalType, NestedField, PrimitiveType, StringType
from pyiceberg.utils.truncate import truncate_upper_bound_text_string

from lakebed.engines.iceberg.upkeep.new_snapshot import NewSnapshot, added
from lakebed.ports import (
    ADOPTED_NAMES,
    MAIN,
    NAME_MAPPING,
    AddedFile,
    Amendment,
    ColumnStatistics,
    SetProperties,
    SetRef,
)
from lakebed.types import fitted

_A_MANIFEST = 10_000  # files
_TEXT = 16  # characters of a bound, as Iceberg itself keeps
_SURROGATES = re.compile("[\ud800-\udfff]")


def added_files(
    io: FileIO, present: IcebergMetadata, files: Iterable[AddedFile], summary: Mapping[str, str]
) -> tuple[Amendment, ...]:
    """Write manifests of the files, and a manifest list; see `SnapshotWriter.adding`."""
    new, manifests, rest = NewSnapshot(io, present, parent=None), list[ManifestFile](), iter(files)
    fields = {field.name: field for field in present.schema().fields}
    counts = {"data-files": 0, "records": 0, "files-size": 0}
    while some := list(islice(rest, _A_MANIFEST)):
        entries = (added(_data_file(file, fields, present), new.id) for file in some)
        manifests.append(new.manifest(present.default_spec_id, entries))
        counts["data-files"] += len(some)
        counts["records"] += sum(file.rows for file in some)
        counts["files-size"] += sum(file.size for file in some)
    told = new.finished(manifests, Operation.APPEND, {**_summary(counts), **summary})
    names = present.schema().name_mapping.model_dump_json()
    mapping = SetProperties({NAME_MAPPING: names, ADOPTED_NAMES: names})
    return (told, SetRef(MAIN, told.snapshot), mapping)


def _summary(counts: Mapping[str, int]) -> dict[str, str]:
    none = ("delete-files", "position-deletes", "equality-deletes")
    return {
        **{f"added-{name}": str(count) for name, count in counts.items()},
        **{f"total-{name}": str(count) for name, count in counts.items()},
        **{f"total-{name}": "0" for name in none},
    }


def _data_file(
    file: AddedFile, fields: Mapping[str, NestedField], present: IcebergMetadata
) -> DataFile:
    known = [(fields[name], told) for name, told in file.columns.items()]
    made = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=file.location,
        file_format=FileFormat.PARQUET,
        partition=Record(*file.partition),
        record_count=file.rows,
        file_size_in_bytes=file.size,
        value_counts={field.field_id: told.values for field, told in known},
        null_value_counts={
            field.field_id: told.nulls for field, told in known if told.nulls is not None
        },
        nan_value_counts={},
        lower_bounds=dict(_bounds(known, upper=False)),
        upper_bounds=dict(_bounds(known, upper=True)),
        split_offsets=list(file.offsets) or None,
    )
    made.spec_id = present.default_spec_id
    return made


def _bounds(
    known: Iterable[tuple[NestedField, ColumnStatistics]], *, upper: bool
) -> Iterator[tuple[int, bytes]]:
    for field, told in known:
        value: Any = told.upper if upper else told.lower
        kind = field.field_type
        if value is None or not isinstance(kind, PrimitiveType):
            continue
        if isinstance(kind, StringType):
            value = _cut(str(value), upper=upper)
        elif isinstance(kind, DecimalType):
            value = fitted(Decimal(str(value)), kind.precision, kind.scale)
        if value is not None:
            yield field.field_id, to_bytes(kind, value)


def _cut(text: str, *, upper: bool) -> str | None:
    """None where no text of this length is a bound that can be stored."""
    bound = truncate_upper_bound_text_string(text, _TEXT) if upper else text[:_TEXT]
    return bound if bound is None or bound.isascii() or not _SURROGATES.search(bound) else None
