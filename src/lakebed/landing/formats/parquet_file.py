"""Sniffing a Parquet file by its footer and, where Spark failed, its pages."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lakebed.landing.formats.csv_text import duplicate_names
from lakebed.landing.formats.file_format import FileFormat, options_of
from lakebed.landing.formats.sniffed import SniffedFile
from lakebed.landing.formats.streams import WINDOW, BrokenFile
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import FileInfo, Files
from lakebed.ports.files.ranged_file import RangedFile


def sniff_parquet(files: Files, file: FileInfo, kind: FileFormat, spec: ZoneSpec) -> SniffedFile:
    """The columns of a file, from its footer; `BrokenFile` if it is damaged or Spark could not read
    the columns.
    """
    with _opened(files, file) as parquet:
        names, schema, rows = (
            tuple(parquet.schema_arrow.names),
            parquet.schema,
            parquet.metadata.num_rows,
        )
        leaves = [schema.column(place) for place in range(len(schema))]
    if not names:
        raise BrokenFile("it has no column")
    if twice := duplicate_names(names):
        raise BrokenFile(
            f"it has two columns that are the same to Spark: {twice[0]} and {twice[1]}"
        )
    nanos = {leaf.path: type_ for leaf in leaves if (type_ := _nanos(leaf))}
    if inner := next((path for path in nanos if path not in names), None):
        raise BrokenFile(
            f"{inner} counts nanoseconds inside a nested column, which Spark cannot read: write"
            " microseconds"
        )
    layout = str(schema).partition("\n")[2]  # the first line is the address of a Python object
    return SniffedFile(
        file, "parquet", options_of(kind, spec), False, names, layout, tuple(nanos.items()), rows
    )


def find_damage(files: Files, file: FileInfo) -> str:
    """What is wrong with the pages of a file; empty if they can all be read."""
    try:
        with _opened(files, file) as parquet:
            for _ in parquet.iter_batches():
                pass
    except BrokenFile as error:
        return str(error)
    return ""


@contextmanager
def _opened(files: Files, file: FileInfo) -> Iterator[Any]:
    from pyarrow import ArrowException  # late: cheap commands must not load Arrow
    from pyarrow.parquet import ParquetFile

    try:
        with (
            io.BufferedReader(RangedFile(files, file.path, size=file.size), WINDOW) as stream,
            ParquetFile(stream) as parquet,
        ):
            yield parquet
    except (ArrowException, OSError) as error:
        raise BrokenFile(
            f"it is not a complete Parquet file: {str(error).splitlines()[0]}"
        ) from None


def _nanos(leaf: Any) -> str:
    """The type of a column that counts nanoseconds; empty for any other."""
    said = json.loads(leaf.logical_type.to_json())
    if said.get("Type") != "Timestamp" or said.get("timeUnit") != "nanoseconds":
        return ""
    return "timestamp(9)" if said.get("isAdjustedToUTC") else "timestamp_ntz(9)"
