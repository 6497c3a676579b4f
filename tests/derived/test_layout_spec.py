"""What a layout is asked to be, however it is written."""

import pytest
from pydantic import ValidationError

from lakebed.derived.spec import LayoutSpec, read_layout, read_spec, spec_json


def layout(**given: object) -> LayoutSpec:
    return LayoutSpec.model_validate(read_layout(given))


def test_the_seeds_form_and_the_short_one_mean_the_same() -> None:
    long = layout(
        name="by_fips",
        partition={"style": "hive", "keys": [{"name": "geo_fips", "type": "VARCHAR"}, "year"]},
        batch_partition_columns=["year"],
        incremental_keys=["year"],
    )
    short = layout(name="by_fips", partition_by=["geo_fips", "year"], batch_by="year")
    assert long.types == {"geo_fips": "string"}
    assert (long.digest, long.fields) == (short.digest, short.fields)


def test_a_batch_column_that_is_no_partition_becomes_the_last_field() -> None:
    trending = layout(partition_by=["tablename", "line_code"], batch_by=["year"])
    assert list(map(str, trending.fields)) == ["tablename", "line_code", "year"]
    cut = layout(partition_by=["truncate(2, geo)", "bucket(4, year)"], batch_by=["year"])
    assert list(map(str, cut.fields)) == ["truncate(2, geo)", "bucket(4, year)", "year"]


def test_rows_are_sorted_by_what_partitions_are_cut_from_unless_told() -> None:
    assert [str(term) for term in layout(partition_by=["truncate(2, geo)", "year"]).order] == [
        "geo asc"
    ]
    assert [str(term) for term in layout(partition_by=["geo"], sort_by="a, b desc").order] == [
        "a asc",
        "b desc",
    ]
    assert layout(partition_by=["geo"]).order == ()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "needs partition_by or sort_by"),
        ({"partition_by": ["a", "A"]}, "listed twice"),
        ({"partition_by": ["cube(a)"]}, "no transform"),
        ({"partition_by": ["a"], "pattern": "x"}, "pattern"),
        ({"partition": {"keys": [{"name": "a", "type": "WIBBLE"}]}}, "no type"),
        ({"partition_by": ["a"], "batch_by": ["b"], "incremental_keys": ["c"]}, "among"),
    ],
)
def test_what_is_no_layout_is_refused(given: dict[str, object], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        layout(**given)


def test_a_property_holds_all_that_decides_where_rows_are() -> None:
    asked = layout(name="x", partition_by=["truncate(2, geo)"], sort_by=["v desc"], batch_by=["y"])
    stored = read_spec(spec_json(asked))
    assert stored is not None
    assert (stored.digest, stored.label) == (asked.digest, "x")
    assert read_spec("{}") is None
    assert read_spec("nonsense") is None


def test_a_name_is_made_from_the_columns_if_none_is_given() -> None:
    assert layout(partition_by=["truncate(2, geo)", "year"]).label == "by_geo_year"
    assert layout(sort_by=["geo"]).label == "by_geo"
