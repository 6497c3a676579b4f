"""What is proposed for the reads of a log."""

from collections.abc import Mapping

from lakebed.query.advice.figures import PatternFigures, TableFigures, ValueFigures
from lakebed.query.advice.propose import ArrangementProposal, propose
from lakebed.query.advice.workload import Comparing, ReadPattern

MB = 1024 * 1024
COUNTY = ValueFigures("geo_fips", 2_000, prefixes={1: 6, 2: 50, 3: 60, 4: 250, 5: 2_000})
ID = ValueFigures("id", 20_000_000)
YEAR = ValueFigures("year", 10)
COUNTRY = ValueFigures("country", 30, prefixes={1: 18, 2: 30})


def reads(
    conditions: Mapping[str, Comparing],
    *,
    count: int = 100,
    files: float = 400,
    partitions: float = 400,
    batches: float = 10,
    needed: float = 90 * MB,
    in_all: int = 90 * MB,
) -> PatternFigures:
    pattern = ReadPattern(tuple(sorted(conditions.items())), frozenset({"value"}))
    return PatternFigures(pattern, count, files, needed, partitions, batches, in_all)


def income(*patterns: PatternFigures, size: int = 170 * MB) -> TableFigures:
    """Ten years in 400 files, each of a year and a line."""
    return TableFigures(
        "bea.gold.income",
        files=400,
        bytes=size,
        rows=20_000_000,
        partition_by=("year", "line_code"),
        sort_by=(),
        partitions=400,
        batch_by=("year",),
        batches=10,
        columns={column.name: column for column in (COUNTY, ID, YEAR, COUNTRY)},
        patterns=patterns,
    )


def by_year_only(*patterns: PatternFigures) -> TableFigures:
    """Ten files, each of a year."""
    return TableFigures(
        "bea.gold.income",
        files=10,
        bytes=170 * MB,
        rows=20_000_000,
        partition_by=("year",),
        sort_by=(),
        partitions=10,
        batch_by=("year",),
        batches=10,
        columns={column.name: column for column in (COUNTY, ID, YEAR, COUNTRY)},
        patterns=patterns,
    )


def only(proposals: tuple[ArrangementProposal, ...]) -> ArrangementProposal:
    (one,) = proposals
    return one


def fields(proposal: ArrangementProposal) -> list[str]:
    return [str(field) for field in proposal.arranged.partition_by]


def test_counties_of_a_table_cut_by_line_get_a_layout_by_state() -> None:
    table = income(
        reads({"geo_fips": "point"}),
        reads({"geo_fips": "prefix"}, count=20),
        reads({"year": "point"}, files=40, partitions=40, batches=1, needed=9 * MB),
    )
    found = only(propose(table))
    assert fields(found) == ["truncate(2, geo_fips)"]
    assert (found.arranged.sort_by, found.arranged.in_place) == ("geo_fips", False)
    assert (round(found.before.files), round(found.then.files)) == (400, 10)
    assert found.before.needed / found.then.needed > 30
    assert found.reads == 120


def test_a_table_cut_by_its_batches_alone_is_sorted_in_place() -> None:
    table = by_year_only(reads({"geo_fips": "point"}, files=10, partitions=10))
    found = only(propose(table))
    assert found.arranged.in_place
    assert found.arranged.sort_by == "geo_fips"
    assert found.then.needed < found.before.needed / 5


def test_a_column_without_beginnings_that_cut_it_is_put_into_buckets() -> None:
    table = income(reads({"id": "point"}))
    found = only(propose(table))
    assert fields(found)[0].startswith("bucket(")
    assert found.arranged.sort_by == "id"


def test_partitions_that_are_large_need_no_more_than_an_order() -> None:
    table = income(
        reads({"country": "point"}, needed=2_000 * MB, in_all=2_000 * MB), size=40_000 * MB
    )
    assert fields(only(propose(table))) == []


def test_ranges_are_served_by_sorting_alone() -> None:
    table = income(reads({"id": "range"}, needed=2_000 * MB, in_all=2_000 * MB), size=40_000 * MB)
    found = only(propose(table))
    assert fields(found) == []


def test_reads_that_are_quick_get_no_advice() -> None:
    quick = reads({"geo_fips": "point"}, files=10, partitions=10, needed=2 * MB)
    assert propose(income(quick)) == ()


def test_reads_without_conditions_get_no_advice() -> None:
    assert propose(income(reads({}, count=10_000))) == ()


def test_what_does_not_pay_for_its_build_within_the_log_is_not_proposed() -> None:
    assert propose(income(reads({"geo_fips": "point"}, count=1))) == ()
    assert propose(income(reads({"geo_fips": "point"}, count=3)))


def test_two_columns_get_two_proposals_the_more_valuable_first() -> None:
    table = income(reads({"geo_fips": "point"}, count=50), reads({"id": "point"}, count=500))
    assert [one.column for one in propose(table)] == ["id", "geo_fips"]


def test_a_table_that_is_sorted_by_the_column_already_is_not_sorted_again() -> None:
    table = by_year_only(reads({"geo_fips": "point"}, files=10, partitions=10, needed=90 * MB))
    is_sorted = TableFigures(**{**table.__dict__, "sort_by": ("geo_fips asc",)})
    assert not any(one.arranged.in_place for one in propose(is_sorted))
