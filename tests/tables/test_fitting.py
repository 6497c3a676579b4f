"""Types read into trees, and values brought into a table's shape."""

import pytest

from lakebed.ports import ColumnAlias, Field
from lakebed.tables import projection, selection
from lakebed.tables.columns.fitting import (
    IncompatibleType,
    NestedChange,
    cast_expression,
    plan_type_change,
)
from lakebed.types import is_storable, read_table_type


@pytest.mark.parametrize(
    ("given", "spark"),
    [
        ("INTEGER", "int"),
        ("smallint", "int"),
        ("varchar(10)", "string"),
        ("numeric(12, 2)", "decimal(12,2)"),
        ("struct<a b: int, `c``,d`: list<long>>", "struct<`a b`:int,`c``,d`:array<bigint>>"),
        (
            "map<string, array<struct<x:decimal(3,1)>>>",
            "map<string,array<struct<`x`:decimal(3,1)>>>",
        ),
    ],
)
def test_a_type_is_read_as_tables_keep_it(given: str, spark: str) -> None:
    assert read_table_type(given).spark == spark
    assert read_table_type(spark).spark == spark
    assert is_storable(read_table_type(given))


@pytest.mark.parametrize(
    "given", ["bigintt", "map<int>", "struct<a>", "array<strin>", "struct<a: itn>"]
)
def test_what_is_no_type_is_known_to_be_none(given: str) -> None:
    assert not is_storable(read_table_type(given))


def followed(present: str, wanted: str) -> tuple[NestedChange, ...]:
    return plan_type_change(read_table_type(present), read_table_type(wanted), ("c",))


def test_structs_gain_fields_and_wider_ones_at_any_depth() -> None:
    assert followed("struct<a:int>", "struct<B:string,A:bigint>") == (
        NestedChange(("c", "B"), "string", is_new=True),
        NestedChange(("c", "a"), "bigint", is_new=False),
    )
    assert followed("array<struct<a:int>>", "array<struct<a:int,b:int>>") == (
        NestedChange(("c", "element", "b"), "int", is_new=True),
    )
    assert followed("map<string,struct<a:int>>", "map<string,struct<a:bigint>>") == (
        NestedChange(("c", "value", "a"), "bigint", is_new=False),
    )
    assert followed("struct<a:bigint,b:int>", "struct<b:int,a:int>") == ()


@pytest.mark.parametrize(
    ("present", "wanted", "said"),
    [
        ("struct<a:int,b:int>", "struct<a:int>", "lacks the field 'b'"),
        ("struct<a:int>", "struct<a:string>", "'c.a' is int in the table and string"),
        ("map<int,int>", "map<string,int>", "'c' is map<int,int> in the table"),
        ("struct<a:int>", "int", "'c' is struct"),
    ],
)
def test_what_iceberg_cannot_change_is_told(present: str, wanted: str, said: str) -> None:
    with pytest.raises(IncompatibleType, match=said):
        followed(present, wanted)


def test_fields_of_structs_are_matched_by_name_never_by_place() -> None:
    given, target = (
        read_table_type("array<struct<b:int,a:int>>"),
        read_table_type("array<struct<a:bigint,b:int,c:string>>"),
    )
    assert cast_expression("x", given, target) == (
        "transform(x, x0 -> IF(x0 IS NULL, NULL, named_struct("
        "'a', CAST(x0.`a` AS bigint), 'b', CAST(x0.`b` AS int), 'c', CAST(NULL AS string))))"
    )


def test_a_frame_gets_exactly_the_columns_of_its_target() -> None:
    given = [Field("ID", "int"), Field("new", "string"), Field("v", "string")]
    target = [
        Field("id", "bigint"),
        Field("old", "string"),
        Field("v", "int"),
        Field("__v", "string"),
        Field("x", "date"),
    ]
    assert selection(given, target, sources={"old": "new", "__v": "v"}) == (
        "CAST(`ID` AS bigint) AS `id`",
        "`new` AS `old`",
        "CAST(NULL AS int) AS `v`",
        "`v` AS `__v`",
        "CAST(NULL AS date) AS `x`",
    )


def test_a_relation_shows_columns_under_other_names() -> None:
    assert projection("t", ()) == "t"
    shown = (ColumnAlias("id", "id"), ColumnAlias("new", "old"))
    assert (
        projection("t VERSION AS OF 5", shown)
        == "(SELECT `id`, `old` AS `new` FROM t VERSION AS OF 5)"
    )


@pytest.mark.parametrize(
    ("given", "target", "checked"),
    [
        ("bigint", "double", "x NOT BETWEEN -9007199254740992 AND 9007199254740992"),
        ("int", "float", "x NOT BETWEEN -16777216 AND 16777216"),
        ("array<bigint>", "array<double>", "x0 NOT BETWEEN"),
        ("struct<`a`:bigint>", "struct<`a`:double>", "x.`a` NOT BETWEEN"),
        ("map<string,bigint>", "map<string,double>", "x0 NOT BETWEEN"),
    ],
)
def test_no_number_loses_its_last_digits_on_the_way_into_a_column_of_floats(
    given: str, target: str, checked: str
) -> None:
    assert checked in cast_expression("x", read_table_type(given), read_table_type(target))
    assert followed(target, given) == ()


def test_what_loses_nothing_is_cast_without_a_check() -> None:
    for given, target in (
        ("int", "double"),
        ("float", "double"),
        ("int", "bigint"),
        ("bigint", "decimal(20,0)"),
    ):
        assert (
            cast_expression("x", read_table_type(given), read_table_type(target))
            == f"CAST(x AS {target})"
        )
