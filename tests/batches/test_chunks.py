"""Ranges cut into chunks: every value is in exactly one, and they begin where the calendar says."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.batches.chunks import (
    UNITS,
    ChunkRange,
    Kind,
    Unit,
    chunk_label,
    cut,
    fits,
    guess_kind,
    is_empty,
    kind_of,
    read_bound,
    read_size,
    spelt,
)
from lakebed.types import parse_type

UTC_ZONE = ZoneInfo("UTC")
# clocks that change at midnight, by half an hour, over a whole day, or at a minute past midnight
ZONES = [
    ZoneInfo(name)
    for name in (
        "UTC",
        "Europe/Berlin",
        "America/Sao_Paulo",
        "America/Havana",
        "America/St_Johns",
        "Australia/Lord_Howe",
        "Asia/Kolkata",
        "Pacific/Apia",
    )
]
DAYS = st.dates(date(1985, 1, 1), date(2030, 12, 31))
MOMENTS = st.datetimes(datetime(1985, 1, 1), datetime(2030, 12, 31))  # noqa: DTZ001
BY_DAYS = [unit for unit in UNITS if unit != "hour"]


def begins(day: date, unit: str) -> bool:
    """The oracle: whether a day is the first of its week, month or year."""
    return {
        "day": True,
        "week": day.isoweekday() == 1,
        "month": day.day == 1,
        "year": (day.month, day.day) == (1, 1),
    }[unit]


@given(DAYS, st.integers(0, 900), st.sampled_from(BY_DAYS))
def test_every_day_is_in_one_chunk_which_begins_where_the_calendar_does(
    start: date, days: int, unit: Unit
) -> None:
    end = start + timedelta(days=days)
    parts = list(cut(ChunkRange(start, end), unit, zone=UTC_ZONE))
    every = [start + timedelta(days=n) for n in range(days)]
    firsts = [day for day in every if day == start or begins(day, unit)]
    assert [part.start for part in parts] == firsts
    assert [part.end for part in parts] == [*firsts, end][1:]


@given(st.integers(-50, 50), st.integers(0, 60), st.integers(1, 70))
def test_every_integer_is_in_one_chunk_of_at_most_the_count(
    start: int, length: int, count: int
) -> None:
    parts = list(cut(ChunkRange(start, start + length), count, zone=UTC_ZONE))
    values = [list(range(int(part.start), int(part.end))) for part in parts]  # type: ignore[arg-type]
    assert [value for part in values for value in part] == list(range(start, start + length))
    assert all(len(part) == count for part in values[:-1])


@given(MOMENTS, st.integers(1, 24 * 80), st.sampled_from(UNITS), st.sampled_from(ZONES))
def test_moments_are_cut_where_the_clocks_of_the_zone_begin_a_day_or_an_hour(
    wall: datetime, hours: int, unit: Unit, zone: ZoneInfo
) -> None:
    start = wall.replace(tzinfo=UTC)
    end = start + timedelta(hours=hours)
    parts = list(islice(cut(ChunkRange(start, end), unit, zone=zone), 5_000))
    assert (parts[0].start, parts[-1].end) == (start, end)
    assert all(one.end == other.start for one, other in pairwise(parts))
    for part in parts[1:]:
        here = part.start
        assert isinstance(here, datetime)
        before, after = (here - timedelta(microseconds=1)).astimezone(zone), here.astimezone(zone)
        if unit == "hour":
            told = (after.minute, after.second) == (0, 0)
            assert told or before.utcoffset() != after.utcoffset()
        else:
            assert before.date() < after.date() or after.date() < before.date()
            assert begins(after.date(), unit) or before.utcoffset() != after.utcoffset()
    if unit != "hour":
        assert len(parts) <= hours / 23 + 3


@given(MOMENTS, st.integers(1, 200), st.sampled_from(UNITS))
def test_times_without_a_zone_are_cut_as_those_of_utc(
    wall: datetime, hours: int, unit: Unit
) -> None:
    end = wall + timedelta(hours=hours)
    naive = cut(ChunkRange(wall, end), unit, zone=ZoneInfo("Europe/Berlin"))
    aware = cut(ChunkRange(wall.replace(tzinfo=UTC), end.replace(tzinfo=UTC)), unit, zone=UTC_ZONE)
    assert [one.start for one in naive] == [
        one.start.replace(tzinfo=None)  # type: ignore[union-attr,call-arg]
        for one in aware
    ]


def test_months_of_a_zone_follow_its_summer_time_and_their_length() -> None:
    zone = ZoneInfo("Europe/Berlin")
    start, end = (read_bound(text, "timestamp", zone=zone) for text in ("2024-02", "2024-05"))
    parts = list(cut(ChunkRange(start, end), "month", zone=zone))
    assert [part.start for part in parts] == [
        datetime(2024, 1, 31, 23, tzinfo=UTC),
        datetime(2024, 2, 29, 23, tzinfo=UTC),
        datetime(2024, 3, 31, 22, tzinfo=UTC),
    ]
    labels = [chunk_label("at", part, zone=zone) for part in parts]
    assert labels == [
        "at=2024-02-01..2024-03-01",
        "at=2024-03-01..2024-04-01",
        "at=2024-04-01..2024-05-01",
    ]


@pytest.mark.parametrize("unit", BY_DAYS)
def test_a_range_up_to_the_end_of_the_calendar_ends(unit: Unit) -> None:
    last = ChunkRange(date(9999, 11, 5), date(9999, 12, 31))
    assert list(cut(last, unit, zone=UTC_ZONE))[-1].end == date(9999, 12, 31)


def test_a_label_is_the_same_before_and_after_the_type_is_known() -> None:
    """Otherwise a backfill that was killed in its first run would begin again."""
    zone = ZoneInfo("Asia/Tokyo")
    labels = set()
    kinds: tuple[Kind, ...] = ("date", "timestamp", "timestamp_ntz")
    for kind in kinds:
        start, end = (read_bound(text, kind, zone=zone) for text in ("2024-01-01", "2024-03-01"))
        parts = cut(ChunkRange(start, end), "month", zone=zone)
        labels |= {chunk_label("at", part, zone=zone) for part in parts}
    assert labels == {"at=2024-01-01..2024-02-01", "at=2024-02-01..2024-03-01"}


def test_the_two_hours_of_a_clock_change_have_two_labels() -> None:
    zone = ZoneInfo("Europe/Berlin")
    start = datetime(2024, 10, 27, 0, tzinfo=UTC)
    parts = cut(ChunkRange(start, start + timedelta(hours=2)), "hour", zone=zone)
    assert [spelt(part.start, zone=zone) for part in parts] == [
        "2024-10-27T02:00:00+02:00",
        "2024-10-27T02:00:00+01:00",
    ]


def test_what_bounds_mean_is_told_by_the_column_or_else_by_their_spelling() -> None:
    assert kind_of(parse_type("bigint")) == "integer"
    assert kind_of(parse_type("timestamp_ntz")) == "timestamp_ntz"
    assert kind_of(parse_type("string")) is None
    assert guess_kind("1", "-20") == "integer"
    assert guess_kind("2024-01", "2024-02-01") == "date"
    assert guess_kind("2024-01-01", "2024-01-01 12:00") == "timestamp"
    assert fits("date", parse_type("timestamp"))
    assert not fits("timestamp", parse_type("date"))
    assert not fits("date", parse_type("string"))
    noon = read_bound("2024-07-01 12:00", "timestamp", zone=ZoneInfo("Europe/Berlin"))
    assert noon == datetime(2024, 7, 1, 10, tzinfo=UTC)
    assert read_bound("2024-07-01T12:00+05:00", "timestamp", zone=ZONES[1]) == datetime(
        2024, 7, 1, 7, tzinfo=UTC
    )
    assert read_bound("2024-01-01 00:00:00", "date", zone=UTC_ZONE) == date(2024, 1, 1)
    assert is_empty(ChunkRange(3, 3))


REFUSED: list[tuple[str, Kind, str]] = [
    ("soon", "date", "neither a date nor a time"),
    ("2024-01-01 10:00", "date", "holds dates"),
    ("2024-01-01 10:00+01:00", "timestamp_ntz", "has an offset"),
    ("2024-01-01", "integer", "not an integer"),
    ("9223372036854775808", "integer", "not an integer"),
    ("0001-01-01", "timestamp", "too far away"),
]


@pytest.mark.parametrize(("text", "kind", "told"), REFUSED)
def test_a_bound_that_is_not_of_the_column_is_refused(text: str, kind: Kind, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_bound(text, kind, zone=ZoneInfo("Asia/Tokyo"))


def test_chunks_are_units_of_time_or_counts_as_the_column_needs() -> None:
    assert read_size("Months", "date") == "month"
    assert read_size("1000", "integer") == 1000
    for text, kind in (("hour", "date"), ("month", "integer"), ("0", "integer"), ("3", "date")):
        with pytest.raises(ValueError, match="a chunk"):
            read_size(text, kind)  # type: ignore[arg-type]
