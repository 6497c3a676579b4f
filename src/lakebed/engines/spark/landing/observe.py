"""Landing files that are checked by the job that reads them."""

from collections.abc import Sequence
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from lakebed.engines.spark.frame_columns import conform, union
from lakebed.engines.spark.landing.json_lines import ODD_LINE, watched_lines
from lakebed.engines.spark.landing.reader import (
    load_texts,
    read_group,
    reader_of,
    with_path,
    with_path_field,
)
from lakebed.engines.spark.landing.text_values import numbered, text_column
from lakebed.engines.spark.landing.value_checks import (
    any_of,
    has_odd_sign,
    is_large_or_no_number,
    loses_digits,
    with_more_digits,
)
from lakebed.names import spark_identifier
from lakebed.ports import Field, FileGroup, ObservedRows, SeenRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

DOUBT = "_lakebed_doubt"
_FLOATING = {"double", "float"}
_PATIENCE = 60.0  # seconds until an answer that Spark lost is given up


def can_observe(session: "SparkSession") -> bool:
    """A Connect server does not tell what was observed below a view."""
    return not type(session).__module__.startswith("pyspark.sql.connect")


def read_observed(
    session: "SparkSession",
    groups: Sequence[FileGroup],
    fields: Sequence[Field],
    *,
    path_column: str = "",
) -> ObservedRows:
    """The rows of all groups, and what the first job that reads them sees."""
    read = [_observed(session, group, path_column) for group in groups]
    wanted = with_path_field(fields, path_column)
    frame = union([conform(rows, wanted) for rows, _ in read])
    return ObservedRows(frame, lambda: _answers(groups, [observation for _, observation in read]))


def _observed(
    session: "SparkSession", group: FileGroup, path_column: str
) -> "tuple[DataFrame, Observation]":
    """Every column is counted, so that none is left unparsed; a bad record fails the job."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    observation = Observation()
    rows = _rows(session, group, path_column)
    frame = rows.observe(
        observation,
        f.count("*").alias("rows"),
        f.count_if(DOUBT).alias("doubtful"),
        *(
            f.count(spark_identifier(column.name)).alias(f"filled_{place}")
            for place, column in enumerate(group.columns)
        ),
    )
    return frame, observation


def _rows(session: "SparkSession", group: FileGroup, path_column: str) -> "DataFrame":
    """The rows, and in the column `DOUBT` whether anything is in doubt."""
    from pyspark.sql import functions as f

    if group.format == "csv":
        return _texts(session, group, path_column)
    if group.format == "parquet":
        rows = with_path(read_group(session, group), path_column)
        return rows.withColumn(DOUBT, f.lit(False))
    columns = tuple(map(with_more_digits, group.columns))
    rows = watched_lines(session, group, columns, path_column=path_column)
    doubts = [loses_digits(one, wide) for one, wide in zip(group.columns, columns, strict=True)]
    doubts += [is_large_or_no_number(one) for one in columns if one.type in _FLOATING]
    return rows.withColumn(DOUBT, any_of([*doubts, f.col(ODD_LINE)]))


def _texts(session: "SparkSession", group: FileGroup, path_column: str) -> "DataFrame":
    """CSV fields as values; a text that is not surely plain is in doubt, and so are signs of wrong
    bytes.
    """
    from pyspark.sql import functions as f

    columns = [text_column(column, group.options) for column in group.columns]
    parts, named = numbered(columns)
    frame = load_texts(reader_of(session, group).option("mode", "FAILFAST"), group)
    path = [path_column] if path_column else []
    parsed = with_path(frame, path_column).selectExpr(*parts, *map(spark_identifier, path))
    strings = [
        has_odd_sign(Field(one.name, "string"), group.options)
        for one in named
        if one.type == "string"
    ]
    others = [f.expr(one.needs_a_closer_look) for one in named if one.type != "string"]
    values = [f.col(one.value).alias(of.name) for one, of in zip(named, columns, strict=True)]
    return parsed.select(*values, *path, any_of([*strings, *others]).alias(DOUBT))


def _answers(
    groups: Sequence[FileGroup], observations: "Sequence[Observation]"
) -> tuple[SeenRows, ...] | None:
    found = [_answer(observation) for observation in observations]
    return (
        tuple(
            SeenRows(
                metrics["rows"],
                metrics["doubtful"],
                tuple(metrics[f"filled_{place}"] for place in range(len(group.columns))),
            )
            for group, metrics in zip(groups, found, strict=True)
            if metrics
        )
        if all(found)
        else None
    )


def _answer(observation: "Observation") -> dict[str, Any]:
    """What was observed; empty if the job did not have to read the rows, or its end went
    unnoticed, for which Spark would wait forever.
    """
    found: dict[str, Any] = {}

    def ask() -> None:
        with suppress(Exception):
            found.update(observation.get)

    asking = Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_PATIENCE)
    return dict(found)
