"""Watermarks: the newest value as text and as a typed literal, set back by a lookback."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from lakebed.errors import BadPipeline
from lakebed.pipelines.watermark import watermark_of


@pytest.mark.parametrize(
    ("value", "lookback", "text", "literal"),
    [
        (
            datetime(2026, 1, 2, 3, 4, 5, 60, UTC),
            None,
            "2026-01-02 03:04:05.000060",
            "TIMESTAMP '2026-01-02 03:04:05.000060+00:00'",
        ),
        (datetime(2026, 1, 2, tzinfo=UTC), "36 hours", "2025-12-31 12:00:00", "TIMESTAMP '2025-12-31 12:00:00+00:00'"),
        (datetime.fromisoformat("2026-01-02 03:00:00"), None, "2026-01-02 03:00:00", "TIMESTAMP_NTZ '2026-01-02 03:00:00'"),
        (date(2026, 1, 2), "1 day", "2026-01-01", "DATE '2026-01-01'"),
        (17, 5, "12", "12"),
        (Decimal("17.50"), "0.25", "17.25", "17.25BD"),
        (2.5, None, "2.5", "2.5D"),
        ("it's \\", None, "it's \\", "'it\\'s \\\\'"),
    ],
)
def test_a_watermark_is_text_and_a_literal(value: Any, lookback: Any, text: str, literal: str) -> None:
    mark = watermark_of(value, lookback=lookback, timezone="UTC")
    assert mark is not None
    assert (mark.text, mark.literal) == (text, literal)


def test_the_text_is_of_the_lakes_time_zone_and_the_literal_of_the_same_moment() -> None:
    mark = watermark_of(datetime(2026, 7, 1, 12, tzinfo=UTC), lookback=None, timezone="Europe/Amsterdam")
    assert mark is not None
    assert (mark.text, mark.literal) == ("2026-07-01 14:00:00", "TIMESTAMP '2026-07-01 14:00:00+02:00'")


def test_no_value_is_no_watermark() -> None:
    assert watermark_of(None, lookback="3 days", timezone="UTC") is None


@pytest.mark.parametrize(("value", "lookback"), [(17, "3 days"), ("x", 3), (date(2026, 1, 1), 3), (17, "soon")])
def test_a_lookback_that_does_not_fit_is_refused(value: Any, lookback: Any) -> None:
    with pytest.raises(BadPipeline, match="lookback"):
        watermark_of(value, lookback=lookback, timezone="UTC")
