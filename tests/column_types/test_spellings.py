"""A type survives being written down and read back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.types import (
    Array,
    ColumnType,
    Map,
    Primitive,
    Struct,
    parse_type,
    read_iceberg_type,
    read_table_type,
)

BOTH = [
    "boolean",
    "int",
    "bigint",
    "float",
    "double",
    "string",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
    "variant",
]
DECIMALS = st.builds(
    lambda digits, scale: Primitive("decimal", (digits, scale)),
    st.integers(1, 38),
    st.integers(0, 9),
)
NAMES = st.text(min_size=1, max_size=6)


def types(*names: str) -> st.SearchStrategy[ColumnType]:
    return st.recursive(
        st.sampled_from([Primitive(name) for name in (*BOTH, *names)]) | DECIMALS,
        lambda inner: (
            st.builds(Array, inner)
            | st.builds(Map, inner, inner)
            | st.builds(Struct, st.lists(st.tuples(NAMES, inner), max_size=3).map(tuple))
        ),
        max_leaves=5,
    )


@given(types("tinyint", "smallint", "void"))
def test_a_type_is_read_back_from_sparks_spelling(type_: ColumnType) -> None:
    assert parse_type(type_.spark) == type_
    assert parse_type(type_.spark, strict=False) == type_


@given(types("uuid", "time", "void", "timestamp_ns") | st.just(Primitive("fixed", (16,))))
def test_a_type_is_read_back_from_icebergs_spelling(type_: ColumnType) -> None:
    assert read_iceberg_type(type_.iceberg) == type_


@given(types("uuid", "time", "void"))
def test_icebergs_json_and_text_are_the_same_type(type_: ColumnType) -> None:
    assert read_iceberg_type(as_json(type_)) == type_
    if type_.is_nested:
        assert read_iceberg_type(json.dumps(as_json(type_))) == type_


def as_json(type_: ColumnType) -> Any:
    match type_:
        case Array(element):
            return {"type": "list", "element": as_json(element)}
        case Map(key, value):
            return {"type": "map", "key": as_json(key), "value": as_json(value)}
        case Struct(fields):
            return {
                "type": "struct",
                "fields": [{"name": name, "type": as_json(part)} for name, part in fields],
            }
    return type_.iceberg


@pytest.mark.parametrize(
    ("iceberg", "spark"),
    [
        ("timestamp", "timestamp_ntz"),
        ("timestamptz", "timestamp"),
        ("list<fixed[16]>", "array<binary>"),
        ("map<uuid, decimal(9, 2)>", "map<string,decimal(9,2)>"),
        ("struct<a b: long, c: unknown>", "struct<`a b`:bigint,`c`:void>"),
        ("geography(OGC:CRS84, spherical)", "geography(OGC:CRS84, spherical)"),
    ],
)
def test_icebergs_types_have_a_spelling_of_spark(iceberg: str, spark: str) -> None:
    assert read_iceberg_type(iceberg).spark == spark
    assert read_iceberg_type(iceberg).iceberg == iceberg


@pytest.mark.parametrize("text", ["interval day to second", "string collate UNICODE"])
def test_a_type_that_is_not_known_keeps_its_text_inside_others_too(text: str) -> None:
    assert (
        read_table_type(f"struct<a:{text},b:array<{text}>>").spark
        == f"struct<`a`:{text},`b`:array<{text}>>"
    )
