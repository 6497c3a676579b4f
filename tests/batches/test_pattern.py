"""Patterns of source files, compared with what DuckDB and people make of such paths."""

import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.batches.pattern import NULL_PART, parse_pattern

NAMES = st.text("abcXYZ019-.é ", min_size=1, max_size=8).filter(
    lambda text: not text.startswith((".", "_"))
)


def test_the_values_of_a_download_are_in_its_name() -> None:
    pattern = parse_pattern("downloads/regional_income/{tablename}_{year}_{set}.json")
    assert pattern.folder == "downloads/regional_income"
    assert pattern.names == ("tablename", "year", "set")
    found = pattern.values("downloads/regional_income/CAINC1_2020_COUNTY.json")
    assert found == {"tablename": "CAINC1", "year": "2020", "set": "COUNTY"}
    assert pattern.values("downloads/regional_income/CAINC1_2020_COUNTY.json.tmp") is None
    assert pattern.values("downloads/regional_income/deeper/CAINC1_2020_COUNTY.json") is None


def test_a_type_tells_where_a_value_ends() -> None:
    text = "in/{tablename}_{year}_{set}.json"
    plain, typed = parse_pattern(text), parse_pattern(text, values={"year": "[0-9]+"})
    path = "in/CA_INC1_2020_METRO_AREA.json"
    assert (plain.values(path) or {})["tablename"] == "CA"
    assert typed.values(path) == {"tablename": "CA_INC1", "year": "2020", "set": "METRO_AREA"}


def test_the_seed_reads_hive_folders() -> None:
    pattern = parse_pattern("type=regional_income/year=*/geo_fips=*/*.parquet")
    assert (pattern.folder, pattern.names) == ("type=regional_income", ("year", "geo_fips"))
    path = "type=regional_income/year=2020/geo_fips=01001/data.parquet"
    assert pattern.values(path) == {"year": "2020", "geo_fips": "01001"}
    assert pattern.values(path.replace("/data", "/x/data")) is None


@given(NAMES, NAMES, NAMES)
def test_hive_escapes_are_undone_and_nothing_else(year: str, fips: str, name: str) -> None:
    pattern = parse_pattern("in/y=*/f=*/*.csv")
    path = f"in/y={quote(year, safe=' ')}/f={quote(fips)}/{name}.csv"
    assert pattern.values(path) == {"y": year, "f": fips}


@given(NAMES)
def test_placeholders_take_the_text_as_it_is(name: str) -> None:
    assert parse_pattern("in/{n}.csv").values(f"in/{name}.csv") == {"n": name}


def test_null_is_a_value_in_hive_folders_only() -> None:
    assert parse_pattern("in/y=*/*.csv").values(f"in/y={NULL_PART}/a.csv") == {"y": None}
    typed = parse_pattern("in/y=*/*.csv", values={"y": "[0-9]+"})
    assert typed.values(f"in/y={NULL_PART}/a.csv") == {"y": None}


@given(st.lists(NAMES, max_size=4), NAMES)
def test_two_stars_stand_for_any_number_of_folders(folders: list[str], name: str) -> None:
    path = "/".join(["in", *folders, f"{name}.json"])
    assert parse_pattern("in/**/{n}.json").values(path) == {"n": name}
    assert parse_pattern("in/**").values(path) == {}


@given(st.text("ab*?", min_size=1, max_size=6).filter(lambda text: "**" not in text), NAMES)
def test_stars_and_question_marks_are_those_of_globs(glob: str, name: str) -> None:
    from fnmatch import fnmatchcase

    found = parse_pattern(f"in/{glob}").values(f"in/{name}")
    assert (found is not None) == fnmatchcase(name, glob)


def test_a_value_that_occurs_twice_is_the_same_value() -> None:
    pattern = parse_pattern("in/{year}/sales_{year}.csv")
    assert pattern.values("in/2020/sales_2020.csv") == {"year": "2020"}
    assert pattern.values("in/2020/sales_2021.csv") is None


def test_hidden_files_are_not_read() -> None:
    pattern = parse_pattern("in/**/*.csv")
    for path in ("in/_SUCCESS.csv", "in/.x.csv", "in/_temporary/0/a.csv", "in/.git/a.csv"):
        assert pattern.values(path) is None
    assert pattern.values("in/_y=1/a.csv") == {}


def test_sources_outside_of_the_lake() -> None:
    bucket = parse_pattern("s3://raw/in/{year}.csv")
    assert (bucket.store, bucket.folder) == ("s3://raw", "in")
    assert parse_pattern("/data/in/*.csv").store == "/"
    assert parse_pattern("file:///data/in/*.csv").folder == "data/in"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("*.json", "whole lake"),
        ("{year}/a.json", "whole lake"),
        ("a.json", "whole lake"),
        ("in/", "names no files"),
        ("", "names no files"),
        ("in/../a.json", "a part that is"),
        ("in//a.json", "a part that is"),
        ("in/{a}{b}.json", "adjacent"),
        ("in/{a-b}.json", "letters, digits"),
        ("in/{a.json", "letters, digits"),
        ("in/a**.json", "alone"),
    ],
)
def test_patterns_that_mean_nothing_are_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        parse_pattern(text)
