"""Watermarks: the newest value as text and as a typed literal, set back by a lookback."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lakebed.errors import BadPipeline
from lakebed.pipelines.planning.watermark import watermark_of
from lakebed.settings import Settings
from tests.support.lakes.spark_lakes import new_lake
from tests.support.spark_sessions import OpenSpark


@pytest.mark.parametrize(
    ("value", "lookback", "text", "literal"),
    [
        (
            datetime(2026, 1, 2, 3, 4, 5, 60, UTC),
            None,
            "2026-01-02 03:04:05.000060+00:00",
            "TIMESTAMP '2026-01-02 03:04:05.000060+00:00'",
        ),
        (
            datetime(2026, 1, 2, tzinfo=UTC),
            "36 hours",
            "2025-12-31 12:00:00+00:00",
            "TIMESTAMP '2025-12-31 12:00:00+00:00'",
        ),
        (
            datetime.fromisoformat("2026-01-02 03:00:00"),
            None,
            "2026-01-02 03:00:00",
            "TIMESTAMP_NTZ '2026-01-02 03:00:00'",
        ),
        (date(2026, 1, 2), "1 day", "2026-01-01", "DATE '2026-01-01'"),
        (17, 5, "12", "12"),
        (Decimal("17.50"), "0.25", "17.25", "17.25BD"),
        (
            Decimal("12345678901234567890123456789012345678"),
            1,
            "12345678901234567890123456789012345677",
            "12345678901234567890123456789012345677BD",
        ),
        (Decimal("1E+5"), None, "100000", "100000BD"),
        (2.5, None, "2.5", "2.5D"),
        (float("inf"), 5, "inf", "CAST('inf' AS DOUBLE)"),
        (-7, None, "-7", "(-7)"),
        ("it's \\", None, "it's \\", "'it\\'s \\\\'"),
    ],
)
def test_a_watermark_is_text_and_a_literal(
    value: Any, lookback: Any, text: str, literal: str
) -> None:
    mark = watermark_of(value, lookback=lookback, timezone="UTC")
    assert mark is not None
    assert (mark.text, mark.literal) == (text, literal)


def test_the_text_is_of_the_lakes_time_zone_and_the_literal_of_the_same_moment() -> None:
    mark = watermark_of(
        datetime(2026, 7, 1, 12, tzinfo=UTC), lookback=None, timezone="Europe/Amsterdam"
    )
    assert mark is not None
    assert (mark.text, mark.literal) == (
        "2026-07-01 14:00:00+02:00",
        "TIMESTAMP '2026-07-01 14:00:00+02:00'",
    )


def test_no_value_is_no_watermark() -> None:
    assert watermark_of(None, lookback="3 days", timezone="UTC") is None


@pytest.mark.parametrize(
    ("value", "lookback"), [(17, "3 days"), ("x", 3), (date(2026, 1, 1), 3), (17, "soon")]
)
def test_a_lookback_that_does_not_fit_is_refused(value: Any, lookback: Any) -> None:
    with pytest.raises(BadPipeline, match="lookback"):
        watermark_of(value, lookback=lookback, timezone="UTC")


FIRST_HOUR, SECOND_HOUR = (
    datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
    datetime(2026, 10, 25, 1, 30, tzinfo=UTC),
)
# A value of each type, with the one before it and the one after, as Spark and DuckDB both write
# them.
NEIGHBOURS: list[tuple[Any, str, str, str]] = [
    (
        FIRST_HOUR,
        "TIMESTAMPTZ '2026-10-25 00:29:59+00:00'",
        "2026-10-25 00:30:00+00:00",
        "2026-10-25 00:30:01+00:00",
    ),
    (
        SECOND_HOUR,
        "TIMESTAMPTZ '2026-10-25 00:30:00+00:00'",
        "2026-10-25 01:30:00+00:00",
        "2026-10-25 01:30:00.000001+00:00",
    ),
    (
        datetime.fromisoformat("2026-10-25 02:30"),
        "TIMESTAMP '2026-10-25 02:29:59'",
        "2026-10-25 02:30:00",
        "2026-10-25 02:30:01",
    ),
    (date(2026, 1, 2), "DATE '2026-01-01'", "2026-01-02", "2026-01-03"),
    (-7, "BIGINT '-8'", "-7", "-6"),
    (Decimal("-7.25"), "DECIMAL(9,2) '-7.26'", "-7.25", "-7.24"),
    (float("inf"), "DOUBLE '1e300'", "inf", "NaN"),
    ("b", "STRING 'a'", "b", "c"),
]


def test_both_hours_of_a_clock_change_have_their_own_text() -> None:
    marks = [
        watermark_of(at, lookback=None, timezone="Europe/Amsterdam")
        for at in (FIRST_HOUR, SECOND_HOUR)
    ]
    assert [mark.text for mark in marks if mark] == [
        "2026-10-25 02:30:00+02:00",
        "2026-10-25 02:30:00+01:00",
    ]


def newer(value: Any, before: str, same: str, after: str, *, sql: Callable[[str, str], str]) -> str:
    """A query: of the values before, same and after those that are newer than the watermark, as
    text and as a literal.
    """
    mark = watermark_of(value, lookback=None, timezone="Europe/Amsterdam")
    assert mark is not None
    kind, first = before.split(" '", 1)
    asked = [
        f"SELECT {sql(kind, text)} AS v, {place} AS place"
        for place, text in enumerate((first.rstrip("'"), same, after))
    ]
    conditions = (f"v > '{mark.text}'", f"v > {mark.literal}")
    return " UNION ALL ".join(
        f"SELECT place FROM ({' UNION ALL '.join(asked)}) WHERE {one}" for one in conditions
    )


@pytest.mark.spark
def test_only_what_is_newer_than_the_watermark_is_read_again_whatever_its_type(
    open_spark: OpenSpark, tmp_path: Path
) -> None:
    spark = open_spark(Settings(timezone="Europe/Amsterdam"), new_lake(tmp_path / "lake"))
    kinds = {"TIMESTAMP": "TIMESTAMP_NTZ", "TIMESTAMPTZ": "TIMESTAMP"}
    for value, *texts in NEIGHBOURS:
        asked = newer(
            value, *texts, sql=lambda kind, text: f"CAST('{text}' AS {kinds.get(kind, kind)})"
        )
        assert [row.place for row in spark.sql(asked).collect()] == [2, 2], asked
    seen = spark.sql(
        "SELECT CAST('2026-10-25 02:30:00+02:00' AS TIMESTAMP_NTZ), CAST('2026-10-25"
        " 02:30:00+02:00' AS DATE)"
    ).head()
    assert seen is not None
    assert [str(value) for value in seen] == [
        "2026-10-25 02:30:00",
        "2026-10-25",
    ]  # compared with others it is the lake's clock


def test_duckdb_understands_the_text_as_spark_does() -> None:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Europe/Amsterdam'")
    for value, *texts in NEIGHBOURS:
        mark = watermark_of(value, lookback=None, timezone="Europe/Amsterdam")
        assert mark is not None
        kind, first = texts[0].split(" '", 1)
        for place, text in enumerate((first.rstrip("'"), *texts[1:])):
            found = connection.execute(
                f"SELECT CAST(? AS {kind}) > '{mark.text}'", [text]
            ).fetchone()
            assert found == (place == 2,), (value, text)
