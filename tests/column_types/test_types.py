"""Types of files that disagree."""

import pytest

from lakebed.types import extends, holds, join_types, kept_as, known_type, parse_type


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("INT", "int"),
        ("integer", "int"),
        ("decimal", "decimal(10,0)"),
        ("Decimal( 12 )", "decimal(12,0)"),
        ("numeric(12,2)", "decimal(12,2)"),
        (
            "array<struct<`a b`:int,c:map<string,long>>>",
            "array<struct<`a b`:int,`c`:map<string,bigint>>>",
        ),
        ("timestamp_ltz", "timestamp"),
        ("OBJECT<>", "struct<>"),
    ],
)
def test_a_type_is_read_under_any_of_its_names(text: str, name: str) -> None:
    assert str(parse_type(text)) == name


@pytest.mark.parametrize(
    "text",
    ["", "int int", "array<>", "array<int", "map<int>", "decimal(a)", "struct<a int>", "<", "a;b"],
)
def test_a_text_that_names_no_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a type"):
        parse_type(text)


def test_an_unknown_type_comes_with_the_nearest_known_one() -> None:
    with pytest.raises(ValueError, match=r"no type 'bigin' \(did you mean bigint"):
        known_type("array<bigin>")


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        ("int", "int", "int"),
        ("int", "bigint", "bigint"),
        ("tinyint", "smallint", "smallint"),
        ("int", "double", "double"),
        ("bigint", "float", "double"),
        ("int", "decimal(5,2)", "decimal(12,2)"),
        ("bigint", "decimal(20,0)", "decimal(20,0)"),
        ("decimal(10,2)", "decimal(8,4)", "decimal(12,4)"),
        ("decimal(38,0)", "decimal(38,10)", "double"),
        ("decimal(5,2)", "double", "double"),
        ("date", "timestamp", "timestamp"),
        ("date", "timestamp_ntz", "timestamp_ntz"),
        ("timestamp", "timestamp_ntz", "timestamp"),
        ("int", "string", "string"),
        ("int", "date", "string"),
        ("boolean", "int", "string"),
        ("struct<a:int>", "struct<a:bigint,b:string>", "struct<`a`:bigint,`b`:string>"),
        ("array<int>", "array<double>", "array<double>"),
        ("array<int>", "int", "string"),
    ],
)
def test_two_types_join_to_one_that_holds_both(one: str, other: str, joined: str) -> None:
    assert str(join_types(parse_type(one), parse_type(other))) == joined
    backwards = join_types(parse_type(other), parse_type(one))
    assert str(backwards) == joined


def test_dates_stay_apart_from_times_that_have_a_format_of_their_own() -> None:
    assert (
        str(join_types(parse_type("date"), parse_type("timestamp"), dates_are_times=False))
        == "string"
    )


@pytest.mark.parametrize(
    ("wanted", "own", "kept"),
    [
        ("bigint", "int", True),
        ("int", "bigint", False),
        ("double", "int", True),
        ("double", "bigint", False),
        ("decimal(12,2)", "decimal(10,2)", True),
        ("decimal(12,2)", "decimal(12,3)", False),
        ("decimal(12,2)", "int", True),
        ("decimal(12,2)", "double", False),
        ("timestamp", "timestamp_ntz", True),
        ("timestamp", "date", True),
        ("date", "timestamp", False),
        ("string", "int", False),
        ("array<bigint>", "array<int>", True),
        ("array<int>", "int", False),
        ("struct<a:bigint,b:string>", "struct<a:int,b:string>", True),
        ("struct<a:int,b:int>", "struct<b:int,a:int>", False),
        ("struct<a:int,b:int>", "struct<a:int>", False),
    ],
)
def test_a_column_holds_a_files_own_type_only_without_loss(
    wanted: str, own: str, kept: bool
) -> None:
    assert holds(parse_type(wanted), parse_type(own)) is kept


@pytest.mark.parametrize(
    ("wider", "own", "so"),
    [
        ("struct<a:int,b:int>", "struct<a:int>", True),
        ("struct<a:bigint>", "struct<a:int>", False),
        ("array<struct<a:int,b:int>>", "array<struct<b:int>>", True),
        ("int", "int", True),
    ],
)
def test_a_struct_with_more_fields_extends_another(wider: str, own: str, so: bool) -> None:
    assert extends(parse_type(wider), parse_type(own)) is so


def test_nanoseconds_are_kept_as_a_plain_time() -> None:
    assert str(kept_as(parse_type("timestamp_ntz(9)"))) == "timestamp_ntz"
