"""Conditions on the rows of one table: what they may contain, and how their columns are found."""

import pytest

from lakebed.errors import BadPipeline
from lakebed.sql import check_condition

COLUMNS = ("id", "country", "tags", "odd col", "day")


def check(text: str) -> str:
    return check_condition(text, columns=COLUMNS, functions=()).text


@pytest.mark.parametrize(
    "text",
    [
        "country = 'DE'",
        "ID BETWEEN 1 AND 2 OR `odd col` IS NULL",
        "(id, country) IN ((1, 'a'), (2, 'b'))",
        "exists(tags, x -> x = 'a' AND id > 1)",
        "CASE WHEN id = 1 THEN TRUE ELSE country <=> NULL END",
        "date_trunc('month', day) = DATE '2026-11-01'",
        "unix_timestamp(day) > 5 AND country = 'today'",
        "TRUE",
    ],
)
def test_a_condition_on_one_row_is_accepted_as_it_is(text: str) -> None:
    assert check(text) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "there is no condition"),
        ("  -- nothing\n", "there is no condition"),
        ("id = 1) OR (id = 2", r"a \) closes nothing"),
        ("id = 1) GROUP BY (id", r"a \) closes nothing"),
        ("id = 1; DROP TABLE x", "several statements"),
        ("id =", "cannot end here"),
        ("id = 1 AS x", "cannot end here"),
        ("id, country", "not one condition"),
        ("id = 1 ORDER BY id", "not understood"),
        ("id IN (SELECT id FROM other)", "reads no other table"),
        ("EXISTS (SELECT 1)", "reads no other table"),
        ("FROM other SELECT id", "reads no other table"),
        ("VALUES (1)", "reads no other table"),
        ("max(id) > 1", "about one row"),
        ("row_number() OVER (ORDER BY id) = 1", "about one row"),
        ("explode(tags)", "about one row"),
        ("rand() < 0.5", "another value each time"),
        ("`uuid`() = country", "another value each time"),
        ("day > current_date", "time goes on"),
        ("day > `current_date`", "no column current_date"),
        ("day > now() - INTERVAL 7 DAYS", "time goes on"),
        ("day > DATE 'today'", "time goes on"),
        ("unix_timestamp() > id", "time goes on"),
        ("reflect('java.lang.System', 'exit', 0)", "calls any method"),
        ("country = '${env:SECRET}'", "environment variable"),
        ("id = :given", "no value"),
        ("frobnicate(id)", "no function frobnicate"),
        ("contry = 'DE'", "there is no column contry"),
        ("orders.country = 'DE'", "there is no column orders"),
        ("_file = 'x'", "there is no column _file"),
    ],
)
def test_whatever_is_no_condition_on_one_row_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadPipeline, match=why):
        check(text)


def test_an_error_shows_the_line_of_the_condition_and_suggests_a_column() -> None:
    with pytest.raises(BadPipeline) as refused:
        check("id = 1 -- one\n  AND contry = 'DE'")
    assert (refused.value.line, refused.value.excerpt) == (2, "AND contry = 'DE'")
    assert "country" in refused.value.next


def test_comments_and_a_final_semicolon_are_left_out() -> None:
    assert check("id = 1 -- )\n/* or\nall */ AND country = '--';").split() == [
        *("id", "=", "1", "AND", "country", "=", "'--'")
    ]


def test_a_column_with_the_name_of_a_clock_is_a_column() -> None:
    quoted = check_condition("`current_date` = 1", columns=["current_date"])
    assert quoted.columns == ("current_date",)


def test_columns_are_renamed_and_nothing_else_that_is_called_like_them() -> None:
    condition = check_condition(
        "Country = 'country' AND country.id[id] = 1 AND exists(tags, id -> id = `odd col`)"
        " AND id > 2"
    )
    assert condition.columns == ("Country", "id", "tags", "odd col")
    assert condition.renamed({"country": "land", "id": "a`b", "odd col": "c"}) == (
        "`land` = 'country' AND `land`.id[`a``b`] = 1 AND exists(tags, id -> id = `c`)"
        " AND `a``b` > 2"
    )
