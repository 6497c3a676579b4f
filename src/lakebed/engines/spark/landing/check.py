"""Checking landing files with Spark: one job counts the rows of each file and what is wrong with
them.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lakebed.engines.spark.frame_columns import union
from lakebed.engines.spark.landing.faults import or_unreadable
from lakebed.engines.spark.landing.infer import infer_columns
from lakebed.engines.spark.landing.json_lines import has_other_than_one_value
from lakebed.engines.spark.landing.nulls import as_texts, with_nulls
from lakebed.engines.spark.landing.reader import CORRUPT, as_stored, columns_text, load, reader_of
from lakebed.engines.spark.landing.value_checks import (
    count_any,
    has_odd_sign,
    loses_digits,
    with_more_digits,
)
from lakebed.names import spark_identifier
from lakebed.ports import Field, FileGroup, FileRows, UnreadableFiles
from lakebed.settings import normalized_location

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_LONGEST_RECORD = 400
_NONE = "_lakebed_none"  # stands for the columns of files that have none, such as []


def infer_files(session: "SparkSession", group: FileGroup) -> tuple[Field, ...] | UnreadableFiles:
    """The inferred columns of the files; `UnreadableFiles` if a file cannot be read."""
    return or_unreadable([group], lambda: infer_columns(session, group), for_columns=True)


def check_files(
    session: "SparkSession", groups: Sequence[FileGroup]
) -> tuple[FileRows, ...] | UnreadableFiles:
    """Read all files once; the findings for each file that has a record."""
    answer = or_unreadable(
        groups,
        lambda: union([tally for group in groups for tally in _tallies(session, group)]).collect(),
    )
    addresses = {normalized_location(path): path for group in groups for path in group.paths}
    if isinstance(answer, UnreadableFiles):
        return answer
    found: dict[str, FileRows] = {}
    for row in answer:
        path = addresses[normalized_location(unquote(row.path))]
        before = found.get(path) or FileRows(path, 0)
        counts = {
            name: getattr(before, name) + getattr(row, name)
            for name in ("rows", "corrupt", "stray", "rounded", "suspect")
        }
        found[path] = FileRows(path, **counts, filled=tuple(row.filled or ()) or before.filled)
    return tuple(found.values())


def corrupt_records(session: "SparkSession", groups: Sequence[FileGroup]) -> dict[str, str]:
    """One bad record for each file that has any."""
    from pyspark.sql import functions as f

    found: dict[str, str] = {}
    for group in groups:
        addresses = {normalized_location(path): path for path in group.paths}
        frame = _permissive(session, group, group.columns)
        # Every column is selected: Spark finds faults only in columns that it parses.
        parsed = f.xxhash64(
            *(f.col(spark_identifier(name)).isNull() for name in _parsed(group.columns))
        ).alias("parsed")
        record = f.substring(f.make_valid_utf8(CORRUPT), 1, _LONGEST_RECORD).alias("record")
        broken = frame.select(_file_path(frame), record, parsed).filter("record IS NOT NULL")
        samples = broken.groupBy("path").agg(f.max("record").alias("record"), f.max("parsed"))
        found |= {
            addresses[normalized_location(unquote(row.path))]: row.record
            for row in samples.collect()
        }
    return found


def _tallies(session: "SparkSession", group: FileGroup) -> "list[DataFrame]":
    frames = [_records(session, group)]
    lines = (
        _spanning(group) if group.format == "csv" else group.paths if group.format == "json" else ()
    )
    return [*frames, _lines(session, group, lines)] if lines else frames


def _spanning(group: FileGroup) -> tuple[str, ...]:
    """The CSV files whose end cannot be checked without reading all of them."""
    whole = group.options.get("multiLine") == "true"
    return tuple(path for path in group.paths if whole or path.casefold().endswith(".gz"))


def _records(session: "SparkSession", group: FileGroup) -> "DataFrame":
    """Rows as the reader parses them. Every column is counted, so that none is left unparsed."""
    from pyspark.sql import functions as f

    text = group.format != "parquet"
    columns = (
        [with_more_digits(column) for column in group.columns] if text else list(group.columns)
    )
    frame = _permissive(session, group, columns) if text else _parquet(session, group)
    texts = [
        column for column in group.columns if group.format == "csv" and column.type == "string"
    ]
    return _summed(
        frame,
        corrupt=_corrupt(group) if text else f.lit(0),
        rounded=count_any(
            [
                loses_digits(column, wide)
                for column, wide in zip(group.columns, columns, strict=True)
            ]
        ),
        suspect=count_any([has_odd_sign(column) for column in texts]),
        filled=f.array(*(f.count(spark_identifier(column.name)) for column in group.columns)),
    )


def _corrupt(group: FileGroup) -> "Column":
    """How many records are corrupt. Spark refuses a query that needs nothing else of them."""
    from pyspark.sql import functions as f

    found = f.count(CORRUPT)
    return found if group.columns else f.least(found, found + f.count(_NONE))


def _lines(session: "SparkSession", group: FileGroup, paths: tuple[str, ...]) -> "DataFrame":
    """Files as plain lines, for faults that the reader ignores."""
    from pyspark.sql import functions as f

    whole = group.format == "json" and group.options.get("multiLine") == "true"
    plain = FileGroup("text", paths, {"wholetext": str(whole).lower()})
    frame = load(reader_of(session, plain), plain)
    if group.format == "json":
        stray = f.count_if(has_other_than_one_value())
        return _summed(frame, rows=f.lit(0), stray=stray)
    quotes = f.size(f.split("value", re.escape(group.options["quote"]))) - 1
    spans = group.options.get("multiLine") == "true"
    odd = (f.sum(quotes) % 2) if spans else f.count_if(quotes % 2 == 1)
    return _summed(frame, rows=f.lit(0), suspect=odd)


def _summed(frame: "DataFrame", **found: "Column") -> "DataFrame":
    """The findings, one row per file."""
    from pyspark.sql import functions as f

    counts = {
        "rows": f.count("*"),
        "corrupt": f.lit(0),
        "stray": f.lit(0),
        "rounded": f.lit(0),
        "suspect": f.lit(0),
    } | found
    filled = counts.pop("filled", f.lit(None).cast("array<bigint>"))
    columns = [count.cast("bigint").alias(name) for name, count in counts.items()]
    return frame.groupBy(_file_path(frame)).agg(*columns, filled.alias("filled"))


def _permissive(session: "SparkSession", group: FileGroup, columns: Sequence[Field]) -> "DataFrame":
    # With column pruning, Spark counts the rows of a CSV file without noticing broken ones.
    session.conf.set("spark.sql.csv.parser.columnPruning.enabled", "false")
    corrupt = Field(CORRUPT, "string")
    reader = reader_of(session, group).option("mode", "PERMISSIVE")
    if group.nulls and columns:
        return with_nulls(
            load(reader.schema(as_texts([*columns, corrupt])), group),
            group,
            columns,
            corrupt=CORRUPT,
        )
    schema = columns_text([*(columns or [Field(_NONE, "string")]), corrupt])
    return load(reader.schema(schema), group)


def _parsed(columns: Sequence[Field]) -> list[str]:
    """The names of the columns of such a frame."""
    return [column.name for column in columns] or [_NONE]


def _parquet(session: "SparkSession", group: FileGroup) -> "DataFrame":
    return load(reader_of(session, group).schema(columns_text(as_stored(group.columns))), group)


def _file_path(frame: "DataFrame") -> "Column":
    return frame.metadataColumn("_metadata")["file_path"].alias("path")
