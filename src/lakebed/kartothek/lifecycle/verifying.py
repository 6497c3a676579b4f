"""Checks a dataset: its files, footers, schemas and indices."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.errors import FileMissing, LakebedError, UnknownName
from lakebed.kartothek.format.column_types import beyond_nanoseconds, same_type
from lakebed.kartothek.format.footers import group_range
from lakebed.kartothek.format.misread_types import misread_columns
from lakebed.kartothek.format.names import (
    DataFormat,
    MetadataFormat,
    data_format,
    metadata_path,
    schema_path,
)
from lakebed.kartothek.format.state import SEGMENTS, DatasetState
from lakebed.kartothek.history.versions import kept_states
from lakebed.kartothek.indexes.postings import distinct_values, flat_index
from lakebed.kartothek.lifecycle.findings import DatasetFinding, problem
from lakebed.kartothek.lifecycle.leftovers import undone_findings, unused_findings
from lakebed.kartothek.reading.data_files import open_parquet, read_file, read_partition
from lakebed.kartothek.reading.index_reader import StateIndices
from lakebed.kartothek.reading.plan import PartitionRead, restored_keys
from lakebed.kartothek.reading.states import load_schema, load_state, read_schema_file
from lakebed.ports.files.file_paths import require_path
from lakebed.ports.files.files import FileInfo, Files

_REBUILD = "Build it again: build_indices."


def verify(files: Files, uuid: str, *, full: bool = False) -> tuple[DatasetFinding, ...]:
    """What is wrong with a dataset; nothing is changed. `UnknownName` if there is none.

    Every data file's footer is read. With `full` all values of indexed columns too: an index that
    lacks a value hides rows.
    """
    try:
        state = load_state(files, uuid)
    except UnknownName:
        raise
    except LakebedError as error:
        return (problem(error),)
    present = {info.path: info for info in files.list(uuid)}
    return tuple(
        finding
        for part in (
            _metadata_files(files, uuid),
            _schemas(files, state),
            dict.fromkeys(_contents(files, state, present, full=full)),
            _kept_states(files, state, present),
            undone_findings(files, state, present),
            unused_findings(files, state, present),
        )
        for finding in part
    )


def _contents(
    files: Files, state: DatasetState, present: Mapping[str, FileInfo], *, full: bool
) -> Iterator[DatasetFinding]:
    """What is wrong with labels, data files and indices; some of it shows in several of them."""
    yield from _labels(files, state)
    yield from _data_files(files, state, present)
    yield from _indices(files, state, present, full=full)


def _metadata_files(files: Files, uuid: str) -> Iterator[DatasetFinding]:
    if all(_exists(files, metadata_path(uuid, format)) for format in MetadataFormat):
        yield DatasetFinding(
            "warning",
            "there are two metadata files; readers use the JSON.",
            metadata_path(uuid, MetadataFormat.MSGPACK),
            "plateau left one when it changed the dataset: delete the msgpack file.",
        )


def _exists(files: Files, path: str) -> bool:
    try:
        files.info(path)
    except FileMissing:
        return False
    return True


def _schemas(files: Files, state: DatasetState) -> Iterator[DatasetFinding]:
    for table in state.tables:
        path = schema_path(state.uuid, table)
        try:
            ours = load_schema(files, state, table)
            theirs = read_schema_file(files, path)
        except FileMissing:
            yield DatasetFinding(
                "problem", "the schema is missing: plateau cannot read the dataset.", path
            )
        except LakebedError as error:
            yield problem(error)
        else:
            yield from _differing(ours, theirs, path)
            for said in misread_columns(ours, state.partition_keys):
                yield DatasetFinding("warning", said, path)


def _differing(ours: Any, theirs: Any, path: str) -> Iterator[DatasetFinding]:
    same = set(ours.names) == set(theirs.names) and all(
        same_type(field.type, theirs.field(field.name).type) for field in ours
    )
    if not same:
        yield DatasetFinding(
            "problem", "the schema that plateau reads is not the one of the rows.", path
        )


def _labels(files: Files, state: DatasetState) -> Iterator[DatasetFinding]:
    """Labels whose partition keys cannot be read, or not by plateau."""
    try:
        schema = load_schema(files, state, state.tables[0])  # the keys are the same in all tables
    except (LakebedError, IndexError):
        return  # which schema is missing is another finding
    for label in state.partitions:
        try:
            restored_keys(state, schema, label)
        except LakebedError as error:
            yield problem(error)
        else:
            if label.count("/") > len(state.partition_keys):
                yield _slash(state, label)


def _slash(state: DatasetState, label: str) -> DatasetFinding:
    return DatasetFinding(
        "warning",
        f"a '/' in the label {label!r} is not encoded: plateau reads the value up to it only.",
        state.uuid,
        "plateau writes such labels; rows that Lakebed writes are read by both.",
    )


def _data_files(
    files: Files, state: DatasetState, present: Mapping[str, FileInfo]
) -> Iterator[DatasetFinding]:
    for paths in state.partitions.values():
        for table, path in paths.items():
            try:
                if require_path(path) in present:
                    yield from _columns(files, state, table, path)
                else:
                    yield _lost(path)
            except LakebedError as error:
                yield problem(error)


def _lost(path: str) -> DatasetFinding:
    return DatasetFinding(
        "problem",
        "a data file is missing: its rows are lost.",
        path,
        "Restore the file, or remove its rows by an update with a delete scope.",
    )


def _columns(files: Files, state: DatasetState, table: str, path: str) -> Iterator[DatasetFinding]:
    """The columns of a file against the schema; CSV has types only once it is read."""
    if data_format(path) is DataFormat.CSV:
        read_file(files, path, schema=load_schema(files, state, table))
        return
    stored, schema = open_parquet(files, path), load_schema(files, state, table)
    yield from _late_times(stored, schema, schema_path(state.uuid, table))
    known = set(schema.names)
    unknown = sorted(set(stored.schema_arrow.names) - known - _index_columns(stored.schema_arrow))
    if unknown:
        yield DatasetFinding(
            "problem", f"the column {unknown[0]!r} is not in the dataset's schema.", path
        )


def _late_times(stored: Any, schema: Any, path: str) -> Iterator[DatasetFinding]:
    """Columns with times that plateau cannot read, by the statistics of one file."""
    for field in schema:
        if pa.types.is_timestamp(field.type):
            groups = [stored.metadata.row_group(n) for n in range(stored.num_row_groups)]
            found = [group_range(group, field.name, field.type).bounds for group in groups]
            bounds = [bound for pair in found for bound in pair or ()]
            if beyond_nanoseconds(pa.array(bounds, field.type)):
                what = (
                    f"plateau cannot read {field.name!r}: it has times before 1678 or after 2261."
                )
                yield DatasetFinding("warning", what, path)


def _index_columns(schema: Any) -> set[str]:
    """Columns in which pandas stored the index of a frame."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return {name for name in index if isinstance(name, str)}


def _indices(
    files: Files, state: DatasetState, present: Mapping[str, FileInfo], *, full: bool
) -> Iterator[DatasetFinding]:
    opened = StateIndices(files, state)
    if state.metadata.get(SEGMENTS) == "true" and state.partitions and not state.commits:
        yield DatasetFinding(
            "warning",
            "the indices in segments are lost: another writer dropped them with its commit.",
            state.uuid,
            _REBUILD,
        )
    for column in state.indexed:
        path = state.index_files(column)[0]
        missing = [one for one in state.index_files(column) if one not in present]
        if missing:
            what = f"the index on {column!r} is missing."
            yield DatasetFinding("problem", what, missing[0], _REBUILD)
            continue
        try:
            index = opened.index(column).whole()
            values, labels = flat_index(index)
            opened.require_known(column, frozenset(pc.unique(labels).to_pylist()))
            yield from _duplicates(column, path, index)
            for table in state.tables:
                opened.require_type(column, load_schema(files, state, table))
            if full:
                yield from _missing_values(files, state, column, path, values, labels)
        except LakebedError as error:
            yield problem(error)


def _duplicates(column: str, path: str, index: Any) -> Iterator[DatasetFinding]:
    if pc.count_distinct(index.column("value")).as_py() < index.num_rows:
        yield DatasetFinding(
            "problem",
            f"the index on {column!r} has values twice: plateau loses rows of them.",
            path,
            _REBUILD,
        )


def _missing_values(
    files: Files, state: DatasetState, column: str, path: str, values: Any, labels: Any
) -> Iterator[DatasetFinding]:
    """Partitions with a value that the index does not have for them."""
    known: dict[str, set[Any]] = {}
    for value, label in zip(values.to_pylist(), labels.to_pylist(), strict=True):
        known.setdefault(label, set()).add(value)
    for label, rows in _column(files, state, column):
        if not set(distinct_values(rows, values.type).to_pylist()) <= known.get(label, set()):
            what = f"the index on {column!r} lacks values of the partition {label!r}."
            yield DatasetFinding("problem", what, path, _REBUILD)
            return


def _column(files: Files, state: DatasetState, column: str) -> Iterator[tuple[str, Any]]:
    """The values of a column in each partition; none for a field outside the rows."""
    schemas = {table: load_schema(files, state, table) for table in state.tables}
    table = next((name for name, schema in schemas.items() if column in schema.names), None)
    if table is None:
        return
    for label, paths in state.partitions.items():
        part = PartitionRead(label, paths, {}, None)
        rows = read_partition(files, part, table=table, schema=schemas[table], columns=[column])
        yield label, rows.column(column)


def _kept_states(
    files: Files, state: DatasetState, present: Mapping[str, FileInfo]
) -> Iterator[DatasetFinding]:
    """Former states that can no longer be read in full."""
    try:
        kept = kept_states(files, state, now=datetime.now(UTC))
    except LakebedError as error:
        yield problem(error)
        return
    for path, former in kept.items():
        gone = sorted(former.files - present.keys())
        if gone:
            yield DatasetFinding(
                "problem",
                f"a former state that is kept lacks {len(gone)} of its files, such as {gone[0]}.",
                path,
                "Garbage collection by plateau removes them: collect garbage with Lakebed alone.",
            )
