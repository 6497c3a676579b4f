"""What of the log counts, and for which table."""

from datetime import UTC, datetime, timedelta

from lakebed.query.advice.workload import (
    LogCoverage,
    LoggedQuery,
    LoggedRead,
    ReadPattern,
    workloads,
)

START = datetime(2026, 11, 1, tzinfo=UTC)


def query(*reads: LoggedRead, day: int = 0, engine: str = "duckdb", ok: bool = True) -> LoggedQuery:
    return LoggedQuery(START + timedelta(days=day), engine, reads, ok)


def income(*conditions: tuple[str, str], layout: str = "") -> LoggedRead:
    return LoggedRead("bea.gold.income", conditions, layout, frozenset({"value"}))


def pattern(**conditions: str) -> ReadPattern:
    return ReadPattern(tuple(sorted(conditions.items())), frozenset({"value"}))  # type: ignore[arg-type]


def test_an_empty_log_says_so() -> None:
    assert workloads([]) == ({}, LogCoverage())


def test_reads_that_compare_alike_are_counted_together() -> None:
    found, _ = workloads(
        [
            query(income(("geo_fips", "="))),
            query(income(("GEO_FIPS", "in"))),
            query(income(("geo_fips", "starts with"))),
            query(income(("geo_fips", "="), ("year", ">="), ("year", "<"))),
        ]
    )
    assert found["bea.gold.income"].patterns == {
        pattern(geo_fips="point"): 2,
        pattern(geo_fips="prefix"): 1,
        pattern(geo_fips="point", year="range"): 1,
    }


def test_the_narrowest_of_several_conditions_on_a_column_counts() -> None:
    found, _ = workloads([query(income(("geo_fips", ">="), ("geo_fips", "="), ("geo_fips", "<")))])
    assert found["bea.gold.income"].patterns == {pattern(geo_fips="point"): 1}


def test_a_condition_that_leaves_out_no_file_is_none() -> None:
    found, seen = workloads([query(income(("geo_fips", "!="))), query(income())])
    assert found["bea.gold.income"].patterns == {pattern(): 2}
    assert seen.without_conditions == 2


def test_reads_whose_conditions_the_log_does_not_tell_count_for_nothing() -> None:
    found, seen = workloads([query(LoggedRead("bea.gold.income", None))])
    assert found == {}
    assert (seen.reads, seen.untold, seen.without_conditions) == (1, 1, 0)


def test_the_days_on_which_a_table_was_read_are_counted() -> None:
    found, _ = workloads([query(income(), day=day) for day in (0, 0, 1, 3)])
    assert found["bea.gold.income"].days == 3


def test_uses_of_layouts_are_counted_by_layout() -> None:
    found, _ = workloads(
        [query(income(("geo_fips", "="), layout="by_county")), query(income(("geo_fips", "=")))]
    )
    (uses,) = (one.uses for one in found.values())
    assert uses == {"by_county": {pattern(geo_fips="point"): 1}}


def test_the_coverage_tells_what_was_seen() -> None:
    _, seen = workloads(
        [
            query(income(("geo_fips", "="))),
            query(income(), income(("year", "=")), day=3, engine="spark"),
            query(income(), day=1, ok=False),
            query(day=2),
        ]
    )
    assert seen == LogCoverage(
        START,
        START + timedelta(days=3),
        queries=4,
        spark=1,
        failed=1,
        without_tables=1,
        reads=3,
        without_conditions=1,
    )
