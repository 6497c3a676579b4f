"""Predicates: every operator on every type, missing values too, equals plain Python."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import BadQuery, UnknownName
from lakebed.kartothek.predicates.conditions import parse_predicates, predicate_columns
from lakebed.kartothek.predicates.rows import matching_rows
from lakebed.kartothek.predicates.statistics import GroupRange, may_match
from tests.kartothek.predicate_cases import COLUMNS, OPERATORS, missing, satisfies

TYPES = {name: type_ for name, (type_, _) in COLUMNS.items()}
NAIVE = datetime.fromisoformat("2024-01-01 01:00")
ORDERED = {"<", "<=", ">", ">="}


@st.composite
def conditions(draw: st.DrawFn, names: tuple[str, ...] = tuple(COLUMNS)) -> tuple[str, str, Any]:
    name = draw(st.sampled_from(names))
    operator = draw(st.sampled_from(OPERATORS))
    present = [value for value in COLUMNS[name][1] if not missing(value)]
    one = st.sampled_from(present if operator in ORDERED else [*present, None])
    return name, operator, draw(st.lists(one, max_size=3) if "in" in operator.split() else one)


PREDICATES = st.lists(st.lists(conditions(), min_size=1, max_size=3), min_size=1, max_size=3)
ROWS = st.lists(
    st.fixed_dictionaries(
        {name: st.sampled_from([*values, None]) for name, (_, values) in COLUMNS.items()}
    ),
    max_size=8,
)


@given(ROWS, PREDICATES)
def test_rows_are_chosen_exactly(rows: list[dict[str, Any]], predicates: list[Any]) -> None:
    table = pa.table(
        {
            "row": pa.array(range(len(rows)), pa.int64()),
            **{name: pa.array([row[name] for row in rows], TYPES[name]) for name in TYPES},
        }
    )
    found = matching_rows(table, parse_predicates(predicates, TYPES))["row"].to_pylist()
    assert found == [number for number, row in enumerate(rows) if satisfies(row, predicates)]


@given(st.data())
def test_statistics_never_hide_a_matching_row(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(tuple(COLUMNS)))
    column, operator, value = data.draw(conditions((name,)))
    values = data.draw(st.lists(st.sampled_from([*COLUMNS[name][1], None]), min_size=1))
    present = [one for one in values if not missing(one)]
    parsed = parse_predicates([[(column, operator, value)]], TYPES)
    assert parsed
    found = GroupRange(
        (min(present), max(present)) if present else None, len(present) < len(values)
    )
    if any(satisfies({name: one}, [[(column, operator, value)]]) for one in values):
        assert may_match(parsed[0][0], found)


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("==", 5, False),
        ("==", 2, True),
        ("<", 1, False),
        ("<=", 1, True),
        (">", 3, False),
        (">=", 3, True),
        ("in", [0, 7], False),
        ("in", [0, 2], True),
        ("==", None, False),
        ("in", [], False),
        ("!=", 2, True),
    ],
)
def test_statistics_leave_out_what_cannot_match(operator: str, value: Any, expected: bool) -> None:
    parsed = parse_predicates([[("int", operator, value)]], TYPES)
    assert parsed
    assert may_match(parsed[0][0], GroupRange((1, 3), missing=False)) is expected


def test_a_row_group_of_one_value_is_left_out_of_its_opposite() -> None:
    parsed = parse_predicates([[("int", "!=", 2), ("int", "not in", [2, 3])]], TYPES)
    assert parsed
    for condition in parsed[0]:
        assert not may_match(condition, GroupRange((2, 2), missing=False))
        assert may_match(condition, GroupRange((2, 2), missing=True))


def test_an_empty_list_excludes_nothing() -> None:
    """plateau finds no row for `not in []`."""
    table = pa.table({"int": pa.array([1, None], pa.int64())})
    assert matching_rows(table, parse_predicates([[("int", "not in", [])]], TYPES)).num_rows == 2
    assert matching_rows(table, parse_predicates([[("int", "in", [])]], TYPES)).num_rows == 0


@pytest.mark.parametrize(("operator", "expected"), [("<", [0, 7]), (">", []), ("!=", [0, 7])])
def test_numbers_beyond_the_type_are_compared_correctly(operator: str, expected: Any) -> None:
    table = pa.table({"uint": pa.array([0, 7], pa.uint64())})
    for value in (2**70, 10**50):
        found = matching_rows(table, parse_predicates([[("uint", operator, value)]], TYPES))
        assert found["uint"].to_pylist() == expected
    below = matching_rows(table, parse_predicates([[("uint", ">", -1)]], TYPES))
    assert below.num_rows == 2


def test_decimals_are_compared_exactly_or_not_at_all() -> None:
    types = {"x": pa.decimal128(5, 2)}
    table = pa.table({"x": pa.array([Decimal("1.20"), Decimal("2.00"), None], types["x"])})
    for value, rows in [(Decimal("1.2"), 1), (2, 1), (3, 0)]:
        found = matching_rows(table, parse_predicates([[("x", "==", value)]], types))
        assert found.num_rows == rows
    for odd in (Decimal("1.234"), 10**9, 1.2):
        with pytest.raises(BadQuery, match="'x'"):
            parse_predicates([[("x", "==", odd)]], types)


@pytest.mark.parametrize("value", [2**53 + 1, 2**70, -(2**70)])
def test_whole_numbers_of_any_size_are_compared_with_floats(value: int) -> None:
    table = pa.table({"float": pa.array([0.5, float(2**71), None])})
    found = matching_rows(table, parse_predicates([[("float", ">", value)]], TYPES))
    assert found.num_rows == (2 if value < 0 else 1)


def test_a_column_without_values_satisfies_only_what_accepts_missing_ones() -> None:
    table = pa.table({"x": pa.nulls(2)})
    types = {"x": pa.null()}
    for operator, value, rows in [("==", 1, 0), ("==", None, 2), ("!=", 1, 2), ("<", 1, 0)]:
        assert (
            matching_rows(table, parse_predicates([[("x", operator, value)]], types)).num_rows
            == rows
        )


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("int", np.int8(1)),
        ("float", np.float32(0.5)),
        ("float", 1),
        ("time", np.datetime64("2024-01-01T01:00:00", "ns")),
        ("time", pd.Timestamp("2024-01-01 01:00")),
        ("time", date(2024, 1, 1)),
        ("zoned", NAIVE),
        ("zoned", datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=1)))),
        ("bool", np.True_),
        ("text", np.str_("a")),
        ("int", pd.NA),
        ("time", pd.NaT),
    ],
)
def test_values_of_numpy_and_pandas_are_understood(column: str, value: Any) -> None:
    assert parse_predicates([[(column, "==", value)]], TYPES)


def test_a_time_without_a_zone_is_utc_where_the_column_has_one() -> None:
    naive = parse_predicates([[("zoned", "==", NAIVE)]], TYPES)
    aware = datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=1)))
    assert naive == parse_predicates([[("zoned", "==", aware)]], TYPES)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("int", 1.5),
        ("int", "1"),
        ("int", True),
        ("float", "x"),
        ("float", 10**400),
        ("text", 1),
        ("text", b"a"),
        ("bool", 1),
        ("date", NAIVE),
        ("date", "2024-01-01"),
        ("time", NAIVE.astimezone()),
        ("bytes", "a"),
    ],
)
def test_a_value_of_another_type_is_refused_and_the_column_named(column: str, value: Any) -> None:
    with pytest.raises(BadQuery, match=f"'{column}'"):
        parse_predicates([[(column, "==", value)]], TYPES)


@pytest.mark.parametrize(
    "predicates",
    [
        [],
        [[]],
        "x",
        [("int", "==", 1)],
        [["int == 1"]],
        [[("int", "==")]],
        [[("int", "like", 1)]],
        [[("int", "in", 1)]],
        [[("int", "==", [1])]],
        [[("int", "<", None)]],
        7,
    ],
)
def test_malformed_predicates_are_refused(predicates: Any) -> None:
    with pytest.raises(BadQuery):
        parse_predicates(predicates, TYPES)


def test_an_unknown_column_suggests_near_ones() -> None:
    with pytest.raises(UnknownName, match="Did you mean text"):
        parse_predicates([[("txet", "==", "a")]], TYPES)


def test_the_columns_of_predicates_are_known_before_they_are_checked() -> None:
    assert predicate_columns([[("a", "==", 1), ("b", "<", 2)], [("a", "in", [])]]) == {"a", "b"}
    assert predicate_columns(None) == predicate_columns([[7]]) == frozenset()
