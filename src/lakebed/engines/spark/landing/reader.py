"""Reading landing files with Spark. Uses only what Spark Connect offers."""

import re
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from lakebed.engines.spark.conf import TASKS_AT_ONCE
from lakebed.engines.spark.landing.text_values import text_column
from lakebed.names import spark_identifier
from lakebed.ports import Field, FileGroup
from lakebed.tables import string_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

CORRUPT = "_lakebed_corrupt_record"
# In bytes. Java interprets larger methods for ever: tests of nine columns in one method took three
# times as long. Beyond this, Spark makes several methods of them.
_LARGEST_COMPILED = "8000"
_LARGEST_TASK = 128 * 1024 * 1024  # Spark's default of spark.sql.files.maxPartitionBytes
_FEWEST_TASKS = "spark.sql.files.minPartitionNum"
_PATTERN = re.compile(r"[\\*?\[\]{},^]")
_NANOS = re.compile(r"(timestamp(?:_ntz)?)\(9\)")
# Hadoop looks for a checksum beside a local file, and fails if the file's name has a colon.
_WITHOUT_CHECKSUMS = {
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}


def read_group(session: "SparkSession", group: FileGroup) -> "DataFrame":
    """The rows of a group of files with the types of `group.columns`; a bad record is an error."""
    reader = reader_of(session, group)
    if not group.columns:
        return load(reader, group)
    reader = reader.option("mode", "FAILFAST")
    if group.format == "csv":
        columns = [text_column(column, group.options) for column in group.columns]
        values = [f"{column.value_or_error} AS {column.text}" for column in columns]
        return load_texts(reader, group).selectExpr(*values)
    frame = load(reader.schema(columns_text(as_stored(group.columns))), group)
    return frame.selectExpr(*map(_kept, group.columns))


def reader_of(session: "SparkSession", group: FileGroup) -> "DataFrameReader":
    """A reader with the group's options."""
    options = dict(group.options)
    if group.format == "csv":
        session.conf.set("spark.sql.codegen.hugeMethodLimit", _LARGEST_COMPILED)
    if options.get("encoding") == "windows-1252":
        session.conf.set("spark.sql.legacy.javaCharsets", "true")
    if any(":" in path.rpartition("/")[2] for path in group.paths if path.startswith("file:")):
        options |= _WITHOUT_CHECKSUMS
    return (
        session.read.format(group.format)
        .options(**options)
        .option("columnNameOfCorruptRecord", CORRUPT)
    )


def keep_cores_busy(session: "SparkSession", groups: Sequence[FileGroup]) -> None:
    """Have Spark cut the files of a group into tasks that end together: with three equal ones, one
    of two cores is idle during the last. Several groups are cut each by itself, as by default.
    """
    at_once = session.conf.get(TASKS_AT_ONCE, None)
    if at_once and len(groups) == 1:
        session.conf.set(_FEWEST_TASKS, str(even_tasks(groups[0].bytes, at_once=int(at_once))))
    else:
        session.conf.unset(_FEWEST_TASKS)


def even_tasks(size: int, *, at_once: int) -> int:
    """The number of tasks for so many bytes: a multiple of those that run at once."""
    return at_once * max(1, ceil(size / (at_once * _LARGEST_TASK)))


def load(reader: "DataFrameReader", group: FileGroup) -> "DataFrame":
    """Load exactly these files: names are not patterns."""
    return reader.load([_PATTERN.sub(r"\\\g<0>", path) for path in group.paths])


def load_texts(reader: "DataFrameReader", group: FileGroup, *others: Field) -> "DataFrame":
    """The fields of CSV files as they are written, and other columns of the reader; a text that
    means NULL is NULL.
    """
    texts = [Field(column.name, "string") for column in group.columns]
    frame = load(reader.schema(columns_text([*texts, *others])), group)
    if not group.nulls:
        return frame
    listed = ", ".join(map(string_literal, group.nulls))
    names = [spark_identifier(column.name) for column in texts]
    return frame.selectExpr(
        *(f"CASE WHEN {name} IN ({listed}) THEN NULL ELSE {name} END AS {name}" for name in names),
        *(spark_identifier(column.name) for column in others),
    )


def with_path(frame: "DataFrame", name: str) -> "DataFrame":
    """Add a column that says in which file a row is; without a name, none."""
    if not name:
        return frame
    return frame.select("*", frame.metadataColumn("_metadata")["file_path"].alias(name))


def with_path_field(fields: Sequence[Field], name: str) -> tuple[Field, ...]:
    """The columns of rows that say in which file they are."""
    return (*fields, Field(name, "string")) if name else tuple(fields)


def unaddressable(path: str) -> bool:
    """Whether Spark cannot name a file: with characters to escape, Hadoop reads a colon as the end
    of a scheme.
    """
    return (
        path.startswith("file:")
        and ":" in path.rpartition("/")[2]
        and _PATTERN.search(path) is not None
    )


def as_stored(columns: Sequence[Field]) -> list[Field]:
    """The columns as stored in the files, where a timestamp in nanoseconds is a number."""
    return [Field(column.name, _NANOS.sub("bigint", column.type)) for column in columns]


def columns_text(columns: Sequence[Field]) -> str:
    """Columns as the text of a Spark schema."""
    return ", ".join(f"{spark_identifier(column.name)} {column.type}" for column in columns)


def _kept(column: Field) -> str:
    """A column as it is read: nanoseconds become microseconds, which a table can store."""
    name, nanos = spark_identifier(column.name), _NANOS.fullmatch(column.type)
    if not nanos:
        return name
    micros = f"timestamp_micros({name} div 1000 - if({name} % 1000 < 0, 1, 0))"
    return f"CAST({micros} AS {nanos[1]}) AS {name}"
