"""Landing files that are checked by the job that reads them."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Any

from lakebed.engines.spark.frame_columns import conform, union
from lakebed.engines.spark.landing.json_lines import ODD, watched_lines
from lakebed.engines.spark.landing.reader import read_group, with_path, with_path_field
from lakebed.engines.spark.landing.value_checks import (
    begins_a_year,
    count_any,
    has_odd_sign,
    is_no_number,
    loses_digits,
    with_more_digits,
)
from lakebed.names import spark_identifier
from lakebed.ports import Field, FileGroup, ObservedRows, SeenRows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation, SparkSession

_TIMES = {"timestamp", "timestamp_ntz"}
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

    text = group.format != "parquet"
    columns = tuple(map(with_more_digits, group.columns)) if text else group.columns
    times = [one for one in columns if group.format == "csv" and one.type in _TIMES]
    observation = Observation()
    frame = _rows(session, replace(group, columns=columns), path_column).observe(
        observation,
        f.count("*").alias("rows"),
        count_any(_doubts(group, columns)).alias("doubtful"),
        count_any([begins_a_year(one) for one in times]).alias("years"),
        *(
            f.count(spark_identifier(column.name)).alias(f"filled_{place}")
            for place, column in enumerate(columns)
        ),
    )
    return frame, observation


def _rows(session: "SparkSession", group: FileGroup, path_column: str) -> "DataFrame":
    if group.format == "json":
        return watched_lines(session, group, group.columns, path_column=path_column)
    return with_path(read_group(session, group), path_column)


def _doubts(group: FileGroup, columns: Sequence[Field]) -> "list[Column | None]":
    from pyspark.sql import functions as f

    if group.format == "parquet":
        return []
    digits = [loses_digits(one, wide) for one, wide in zip(group.columns, columns, strict=True)]
    if group.format == "json":
        numbers = [is_no_number(one) for one in columns if one.type in _FLOATING]
        return [*digits, *numbers, f.col(ODD)]
    return [*digits, *(has_odd_sign(one) for one in columns if one.type == "string")]


def _answers(
    groups: Sequence[FileGroup], observations: "Sequence[Observation]"
) -> tuple[SeenRows, ...] | None:
    found = [_answer(observation) for observation in observations]
    return (
        tuple(
            SeenRows(
                metrics["rows"],
                metrics["doubtful"],
                metrics["years"],
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
