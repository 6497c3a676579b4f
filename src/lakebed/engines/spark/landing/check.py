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
from lakebed.engines.spark.landing.json_texts import rounded_rows
from lakebed.engines.spark.landing.reader import (
    CORRUPT,
    as_stored,
    columns_text,
    load,
    load_texts,
    reader_of,
)
from lakebed.engines.spark.landing.text_values import MISFIT, PLAIN, numbered, text_column
from lakebed.engines.spark.landing.value_checks import (
    count_any,
    has_odd_sign,
    loses_digits,
    with_more_digits,
)
from lakebed.names import spark_identifier
from lakebed.ports import LONGEST_RECORD, Field, FileGroup, FileRows, UnreadableFiles
from lakebed.settings import normalized_location
from lakebed.tables import string_literal

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_WRITTEN = ("sep", "quote", "escape", "nullValue")
_AS_THEY_ARE = {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
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
        found[path] = FileRows(
            path,
            **counts,
            filled=tuple(row.filled or ()) or before.filled,
            odd=tuple(row.odd or ()) or before.odd,
        )
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
        bad = f.expr(_bad_record(group) if group.format == "csv" else CORRUPT)
        record = f.substring(f.make_valid_utf8(bad), 1, LONGEST_RECORD).alias("record")
        broken = frame.select(_file_path(frame), record, parsed).filter("record IS NOT NULL")
        samples = broken.groupBy("path").agg(f.max("record").alias("record"), f.max("parsed"))
        found |= {
            addresses[normalized_location(unquote(row.path))]: row.record
            for row in samples.collect()
        }
    return found


def two_spellings(
    session: "SparkSession", groups: Sequence[FileGroup], column: str
) -> tuple[str, str] | None:
    """Two texts of a column that spell the same value, if there are any."""
    from pyspark.sql import functions as f

    frames = []
    for group in groups:
        field = next(one for one in group.columns if one.name.casefold() == column.casefold())
        found = text_column(field, group.options)
        texts = load_texts(reader_of(session, group), group)
        frames.append(texts.selectExpr(f"{found.value} AS value", f"{found.text} AS text"))
    spellings = (
        union(frames).groupBy("value").agg(f.min("text").alias("a"), f.max("text").alias("b"))
    )
    row = spellings.filter("value IS NOT NULL AND a != b").orderBy("value").first()
    return (row.a, row.b) if row else None


def _bad_record(group: FileGroup) -> str:
    """A record that Spark cannot split into fields or, written anew, one with a text that does not
    fit.
    """
    columns = [text_column(column, group.options) for column in group.columns]
    misfits = [f"{column.grade} = {MISFIT}" for column in columns]
    signs = {key: group.options[key] for key in _WRITTEN if key in group.options} | _AS_THEY_ARE
    options = ", ".join(
        f"{string_literal(key)}, {string_literal(value)}" for key, value in signs.items()
    )
    texts = ", ".join(column.text for column in columns)
    record = f"to_csv(struct({texts}), map({options}))"
    return f"coalesce({CORRUPT}, if({' OR '.join(misfits)}, {record}, NULL))"


def _tallies(session: "SparkSession", group: FileGroup) -> "list[DataFrame]":
    from pyspark.sql import functions as f

    frames = [_records(session, group)]
    lines = (
        _spanning(group) if group.format == "csv" else group.paths if group.format == "json" else ()
    )
    if lines:
        frames.append(_lines(session, group, lines))
    found = rounded_rows(session, group) if group.format == "json" else None
    if found:
        frame, rounded = found
        frames.append(_summed(frame, rows=f.lit(0), rounded=f.count_if(f.expr(rounded))))
    return frames


def _spanning(group: FileGroup) -> tuple[str, ...]:
    """The CSV files whose end cannot be checked without reading all of them."""
    whole = group.options.get("multiLine") == "true"
    return tuple(path for path in group.paths if whole or path.casefold().endswith(".gz"))


def _records(session: "SparkSession", group: FileGroup) -> "DataFrame":
    """Rows as the reader parses them. Every column is counted, so that none is left unparsed."""
    from pyspark.sql import functions as f

    if group.format == "csv":
        return _texts(session, group)
    text = group.format != "parquet"
    columns = (
        [with_more_digits(column) for column in group.columns] if text else list(group.columns)
    )
    frame = _permissive(session, group, columns) if text else _parquet(session, group)
    return _summed(
        frame,
        corrupt=_corrupt(group) if text else f.lit(0),
        rounded=count_any(
            [
                loses_digits(column, wide)
                for column, wide in zip(group.columns, columns, strict=True)
            ]
        ),
        filled=f.array(*(f.count(spark_identifier(column.name)) for column in group.columns)),
    )


def _texts(session: "SparkSession", group: FileGroup) -> "DataFrame":
    """The fields of CSV files, each compared with the type of its column."""
    from pyspark.sql import functions as f

    columns = [text_column(column, group.options) for column in group.columns]
    places = range(len(columns))
    frame = _permissive(session, group, group.columns)
    parts, named = numbered(columns)
    parsed = frame.select(_file_path(frame), CORRUPT, *map(f.expr, parts))
    graded = parsed.selectExpr(
        "path",
        CORRUPT,
        *(column.text for column in named),
        *(f"{column.grade} AS g{place}" for place, column in enumerate(named)),
    )
    strings = [place for place in places if columns[place].type == "string"]
    broken = [f.col(CORRUPT).isNotNull(), *(f.col(f"g{place}") == MISFIT for place in places)]
    return _summed(
        graded,
        path=f.col("path"),
        corrupt=count_any(broken),
        suspect=count_any(
            [has_odd_sign(Field(f"t{place}", "string"), group.options) for place in strings]
        ),
        filled=f.array(*(f.count(f"t{place}") for place in places)),
        odd=f.array(*(f.count_if(f.col(f"g{place}") != PLAIN) for place in places)),
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


def _summed(frame: "DataFrame", *, path: "Column | None" = None, **found: "Column") -> "DataFrame":
    """The findings, one row per file."""
    from pyspark.sql import functions as f

    counts = {name: f.lit(0) for name in ("corrupt", "stray", "rounded", "suspect")}
    counts = {"rows": f.count("*")} | counts
    nothing = f.lit(None).cast("array<bigint>")
    lists = {name: found.pop(name, nothing) for name in ("filled", "odd")}
    columns = [count.cast("bigint").alias(name) for name, count in (counts | found).items()]
    columns += [list_.alias(name) for name, list_ in lists.items()]
    return frame.groupBy(_file_path(frame) if path is None else path).agg(*columns)


def _permissive(session: "SparkSession", group: FileGroup, columns: Sequence[Field]) -> "DataFrame":
    # With column pruning, Spark counts the rows of a CSV file without noticing broken ones.
    session.conf.set("spark.sql.csv.parser.columnPruning.enabled", "false")
    corrupt = Field(CORRUPT, "string")
    reader = reader_of(session, group).option("mode", "PERMISSIVE")
    if group.format == "csv":
        return load_texts(reader, group, corrupt)
    schema = columns_text([*(columns or [Field(_NONE, "string")]), corrupt])
    return load(reader.schema(schema), group)


def _parsed(columns: Sequence[Field]) -> list[str]:
    """The names of the columns of such a frame."""
    return [column.name for column in columns] or [_NONE]


def _parquet(session: "SparkSession", group: FileGroup) -> "DataFrame":
    return load(reader_of(session, group).schema(columns_text(as_stored(group.columns))), group)


def _file_path(frame: "DataFrame") -> "Column":
    return frame.metadataColumn("_metadata")["file_path"].alias("path")
