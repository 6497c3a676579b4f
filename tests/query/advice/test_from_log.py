"""From lines of the log to reads."""

from datetime import UTC, datetime

from lakebed.query.advice.from_log import logged_queries
from lakebed.query.advice.workload import LoggedQuery, LoggedRead
from lakebed.query.parsing.parse_nodes import Json
from lakebed.query.results.log import QueryLogEntry, line_of, parse_line, sql_hash
from lakebed.query.results.log_conditions import ReadCondition
from tests.query.parsed import tree

NOW = datetime(2026, 11, 17, tzinfo=UTC)
COUNTY = "SELECT sum(value) FROM income WHERE geo_fips = '01001'"


def entry(sql: str = COUNTY, **given: object) -> QueryLogEntry:
    told = {"tables": ("bea.gold.income",), "snapshot_ids": (1,), **given}
    made = QueryLogEntry(NOW, "q1", sql, sql_hash(sql), **told)  # type: ignore[arg-type]
    read = parse_line(line_of(made).decode())
    assert read
    return read


def parse(sql: str) -> tuple[str, Json]:
    return sql, tree(sql)


def only(entry: QueryLogEntry) -> LoggedQuery:
    (found,) = logged_queries([entry], parse)
    return found


def test_a_line_tells_tables_conditions_layouts_and_columns() -> None:
    told = entry(conditions=((ReadCondition("geo_fips", "="),),), layouts=("by_county",))
    columns = frozenset({"value", "geo_fips"})
    read = LoggedRead("bea.gold.income", (("geo_fips", "="),), "by_county", columns)
    assert only(told) == LoggedQuery(NOW, "duckdb", (read,))


def test_lines_from_before_conditions_were_logged_do_not_tell_them() -> None:
    (read,) = only(entry()).reads
    assert (read.conditions, read.layout) == (None, "")
    (read,) = only(entry(conditions=((),), layouts=("",))).reads
    assert read.conditions == ()


def test_a_text_that_was_cut_off_or_is_not_duckdbs_may_need_all_columns() -> None:
    long = entry(COUNTY + " -- " + "x" * 10_000)
    assert [one.columns for one in only(long).reads] == [None]
    assert [one.columns for one in only(entry(engine="spark")).reads] == [None]
    assert [one.columns for one in only(entry("SELECT * FROM income")).reads] == [None]


def test_views_and_metadata_tables_are_no_tables() -> None:
    told = entry(
        tables=("bea.gold.seen", "bea.gold.income", "bea.gold.income$files"),
        snapshot_ids=(None, 1, 1),
    )
    assert [one.table for one in only(told).reads] == ["bea.gold.income"]


def test_a_text_is_parsed_once() -> None:
    asked: list[str] = []

    def parse_and_count(sql: str) -> tuple[str, Json]:
        asked.append(sql)
        return parse(sql)

    assert len(list(logged_queries([entry()] * 3, parse_and_count))) == 3
    assert asked == [COUNTY]
