"""Values that Spark can compare, and those it cannot."""

import pytest

from lakebed.ports import Field
from lakebed.tables.merging.row_equality import (
    comparable,
    find_column,
    free_name,
    other_columns,
    rows_equal,
)


@pytest.mark.parametrize(
    ("type", "text"),
    [
        ("int", "c"),
        ("array<struct<a:int>>", "c"),
        (
            "map<string,int>",
            "sort_array(transform(map_entries(c), x0 -> struct(x0.key, x0.value)))",
        ),
        (
            "MAP<STRING, INT>",
            "sort_array(transform(map_entries(c), x0 -> struct(x0.key, x0.value)))",
        ),
        (
            "array<map<int,decimal(12,2)>>",
            (
                "transform(c, x0 -> sort_array(transform(map_entries(x0), x1 -> struct(x1.key,"
                " x1.value))))"
            ),
        ),
        (
            "map<struct<a:int,b:int>,map<int,int>>",
            (
                "sort_array(transform(map_entries(c), x0 -> struct(x0.key, "
                "sort_array(transform(map_entries(x0.value), x1 -> struct(x1.key, x1.value))))))"
            ),
        ),
        (
            "struct<`a,``b:<`:decimal(12,2),m:map<int,int>>",
            (
                "if(c IS NULL, NULL, struct(c.`a,``b:<`, sort_array(transform(map_entries(c.`m`),"
                " x0 -> struct(x0.key, x0.value)))))"
            ),
        ),
    ],
)
def test_a_value_is_compared_as_it_is_and_a_map_by_its_sorted_entries(type: str, text: str) -> None:
    assert comparable("c", type) == text


def test_rows_are_the_same_if_all_columns_agree_null_with_null() -> None:
    columns = (Field("a", "int"), Field("b`c", "string"))
    assert rows_equal(columns, "h", "b") == "least(TRUE, h.`a` <=> b.`a`, h.`b``c` <=> b.`b``c`)"
    assert rows_equal((), "h", "b") == "TRUE"


def test_columns_are_found_and_left_out_without_regard_to_case() -> None:
    columns = (Field("Id", "int"), Field("v", "int"))
    assert find_column("ID", columns) == columns[0]
    assert find_column("w", columns) is None
    assert other_columns(columns, ("iD", None)) == columns[1:]


def test_a_free_name_is_no_columns_name() -> None:
    assert free_name("_mark", (Field("_MARK", "int"), Field("_mark_", "int"))) == "`_mark__`"
