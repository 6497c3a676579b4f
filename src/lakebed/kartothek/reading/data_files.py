"""The rows of one partition: row groups that may match, columns that are needed."""

import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from lakebed.errors import DamagedDataset, FileMissing
from lakebed.kartothek.format.footers import group_range
from lakebed.kartothek.format.names import DataFormat, data_format
from lakebed.kartothek.predicates.conditions import Conjunction, Predicates
from lakebed.kartothek.predicates.rows import matching_rows
from lakebed.kartothek.predicates.statistics import may_match
from lakebed.kartothek.reading.plan import PartitionRead
from lakebed.ports.files.files import Files
from lakebed.ports.files.ranged_file import RangedFile

_WHOLE = 4 * 1024 * 1024  # of a larger file only the ranges that are needed are fetched


def read_partition(
    files: Files, part: PartitionRead, *, table: str, schema: Any, columns: Sequence[str]
) -> Any:
    """The rows of a partition that satisfy its predicates, with the types of the schema."""
    path = part.files[table]
    tested = {one.column for conjunction in part.predicates or () for one in conjunction}
    needed = [name for name in schema.names if name in {*columns, *tested} - part.keys.keys()]
    arrays, count = _payload(files, path, schema, needed, part.predicates)
    for key in (name for name in columns if name in part.keys):
        arrays[key] = pa.repeat(pa.scalar(part.keys[key], schema.field(key).type), count)
    return matching_rows(pa.table(arrays), part.predicates).select(list(columns))


def read_file(files: Files, path: str, *, schema: Any = None) -> Any:
    """All rows of a data file, with the types they were written with; CSV has those of a schema."""
    try:
        if data_format(path) is DataFormat.CSV:
            types = {} if schema is None else {field.name: field.type for field in schema}
            convert = pyarrow.csv.ConvertOptions(column_types=types)
            return pyarrow.csv.read_csv(io.BytesIO(files.read(path)), convert_options=convert)
        return pq.read_table(io.BytesIO(files.read(path)))
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from error
    except FileMissing as error:
        raise _missing(path) from error


def open_parquet(files: Files, path: str) -> Any:
    """A Parquet file with its footer read."""
    try:
        size = files.info(path).size
        small = size <= _WHOLE
        source = io.BytesIO(files.read(path)) if small else RangedFile(files, path, size=size)
        return pq.ParquetFile(source, pre_buffer=not small)
    except FileMissing as error:
        raise _missing(path) from error
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from error


def _payload(
    files: Files, path: str, schema: Any, names: Sequence[str], predicates: Predicates | None
) -> tuple[dict[str, Any], int]:
    """The columns of a file with the types of the schema, and the number of their rows."""
    if data_format(path) is DataFormat.CSV:
        read = read_file(files, path, schema=schema)
        return _typed(read, schema, names, path, count=read.num_rows), read.num_rows
    stored = open_parquet(files, path)
    groups = _groups(stored.metadata, schema, predicates)
    present = [name for name in names if name in stored.schema_arrow.names]
    try:
        read = stored.read_row_groups(groups, columns=present)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from error
    count = sum(stored.metadata.row_group(group).num_rows for group in groups)
    return _typed(read, schema, names, path, count=count), count


def _groups(metadata: Any, schema: Any, predicates: Predicates | None) -> list[int]:
    """The row groups that may hold a matching row."""
    numbers = list(range(metadata.num_row_groups))
    if predicates is None:
        return numbers
    return [
        number
        for number in numbers
        if any(_may_hold(metadata.row_group(number), schema, one) for one in predicates)
    ]


def _may_hold(group: Any, schema: Any, conjunction: Conjunction) -> bool:
    return all(
        may_match(one, group_range(group, one.column, schema.field(one.column).type))
        for one in conjunction
    )


def _typed(
    read: Any, schema: Any, names: Sequence[str], path: str, *, count: int
) -> dict[str, Any]:
    """The columns with the types of the schema; one that the file lacks has no values."""
    try:
        return {name: _column(read, schema.field(name), count) for name in names}
    except pa.ArrowException as error:
        raise _damaged(path, error) from error


def _column(read: Any, field: Any, rows: int) -> Any:
    if field.name not in read.column_names:
        return pa.nulls(rows, field.type)
    return read.column(field.name).cast(field.type)


def _missing(path: str) -> DamagedDataset:
    return DamagedDataset(
        path,
        "a data file of the dataset is missing.",
        next="If the dataset was changed meanwhile, read again; otherwise restore the file.",
    )


def _damaged(path: str, error: Exception) -> DamagedDataset:
    reason = str(error).strip().splitlines()[0]
    return DamagedDataset(path, f"the data file cannot be read: {reason}.")
