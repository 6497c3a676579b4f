"""Lines of JSON files: parsed as Spark's reader does it, and watched for faults that it ignores:
something after a record, and keys that are no columns or are given twice.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakebed.engines.spark.landing.json_texts import may_round
from lakebed.engines.spark.landing.plain_lines import (
    RECORD,
    ends_with_its_only_brace,
    is_plain,
)
from lakebed.engines.spark.landing.reader import (
    CORRUPT,
    columns_text,
    load,
    reader_of,
    with_path,
)
from lakebed.ports import Field, FileGroup

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

ODD_LINE = "_lakebed_odd_line"
# Where a text is expected, Spark's reader keeps a number such as 1.50 as it is written, and
# `from_json` writes it anew: such lines are left to the reader. So are keys with escapes.
_SPELT_OTHERWISE = (
    r"\"(?:{names})\"\s*+:\s*+(?!\"|null|true|false|(?:0|-?[1-9][0-9]*+)\s*+[,}}])"
    r"|\\[^\"]*\"\s*:"
)


def has_other_than_one_value() -> "Column":
    """Whether a line (`value`) does not hold exactly one JSON value.

    Where the quick count fails (it does not know NaN), the reader's own rules decide.
    """
    from pyspark.sql import functions as f

    listed = "concat('[', value, ']')"
    count = f"coalesce(json_array_length({listed}), size(from_json({listed}, 'array<string>')), -1)"
    return f.expr(f"trim(value) != '' AND {count} != 1")


def watched_lines(
    session: "SparkSession", group: FileGroup, columns: Sequence[Field], *, path_column: str
) -> "DataFrame":
    """The records of files with one on each line; a bad record fails the job. The column `ODD_LINE`
    says whether a line is anything else than one record of these columns.
    """
    from pyspark.sql import functions as f

    text = FileGroup("text", group.paths, {"wholetext": "false"})
    options = dict(group.options) | {"mode": "FAILFAST", "columnNameOfCorruptRecord": CORRUPT}
    record = f.from_json("value", columns_text(columns), options).alias(RECORD)
    lines = with_path(load(reader_of(session, text), text), path_column)
    path = [path_column] if path_column else []
    odd = f.when(is_plain(columns), f.lit(False)).otherwise(_is_odd(columns))
    return lines.select("value", record, *path).select(
        (odd | ~f.is_valid_utf8("value") | f.expr(may_round(columns))).alias(ODD_LINE),
        f"{RECORD}.*",
        *path,
    )


def _is_odd(columns: Sequence[Field]) -> "Column":
    """A line without a record is odd, too: there may be no other in its file."""
    from pyspark.sql import functions as f

    keys = f.json_object_keys("value")
    known = f.array(*(f.lit(column.name) for column in columns))
    # an intersection holds each key once
    as_known = f.size(f.array_intersect(keys, known)) == f.size(keys)
    # a record whose only brace closes it at the end of the line is alone there
    stray = f.when(ends_with_its_only_brace(), f.lit(False)).otherwise(has_other_than_one_value())
    spelt = f.col("value").rlike(_SPELT_OTHERWISE.format(names=_texts(columns)))
    return ~f.coalesce(as_known, f.lit(False)) | stray | spelt


def _texts(columns: Sequence[Field]) -> str:
    """A regular expression for the columns of type string; it matches no key if there is none."""
    names = [re.escape(column.name) for column in columns if column.type == "string"]
    return "|".join(names or ["[^\\s\\S]"])
