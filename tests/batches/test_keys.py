"""Batch keys: one label for each value, and SQL that means exactly it."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.batches.keys import (
    BatchKey,
    KeyValue,
    condition,
    in_order,
    label,
    read_label,
    read_value,
    type_problem,
)
from lakebed.types import parse_type

INT, DATE, TEXT = parse_type("int"), parse_type("date"), parse_type("string")
KEYS = (BatchKey("year", INT), BatchKey("day", DATE), BatchKey("set", TEXT))
VALUES = st.tuples(
    st.none() | st.integers(-(2**31), 2**31 - 1), st.none() | st.dates(), st.none() | st.text()
)


@given(VALUES)
def test_a_label_is_read_back(values: tuple[KeyValue, ...]) -> None:
    if values[2] == "__HIVE_DEFAULT_PARTITION__":
        return
    assert read_label(label(KEYS, values), KEYS) == values


@given(VALUES, VALUES)
def test_two_batches_never_share_a_label(
    one: tuple[KeyValue, ...], other: tuple[KeyValue, ...]
) -> None:
    assert (label(KEYS, one) == label(KEYS, other)) == (one == other)


@given(st.lists(VALUES))
def test_batches_have_an_order_whatever_is_null(several: list[tuple[KeyValue, ...]]) -> None:
    ordered = sorted(several, key=in_order)
    numbers = [values[0] for values in ordered if isinstance(values[0], int)]
    assert numbers == sorted(numbers)
    assert [values[0] for values in ordered][len(numbers) :] == [None] * (
        len(ordered) - len(numbers)
    )


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("02020", "int", 2020),
        ("+7", "bigint", 7),
        ("2020-02-29", "date", date(2020, 2, 29)),
        ("TRUE", "boolean", True),
        ("1.50", "decimal(5,2)", Decimal("1.50")),
        ("-0", "decimal(5,2)", Decimal("0.00")),
        (
            "-12345678901234567890123456789012345678",
            "decimal(38,0)",
            Decimal("-12345678901234567890123456789012345678"),
        ),
        ("01001", "string", "01001"),
        ("", "string", ""),
    ],
)
def test_equal_values_are_one_batch_however_they_are_spelt(
    text: str, type_: str, value: KeyValue
) -> None:
    assert read_value(text, parse_type(type_)) == value


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("NaN", "int"),
        ("nan", "decimal(5,2)"),
        ("Infinity", "decimal(5,2)"),
        ("2020.0", "int"),
        ("٢٠٢٠", "int"),
        ("2147483648", "int"),
        ("", "int"),
        ("+-1", "int"),
        ("1_000", "int"),
        ("2020-02-30", "date"),
        ("yes", "boolean"),
        ("1.555", "decimal(5,2)"),
        ("1000", "decimal(5,2)"),
        ("12345678901234567890123456789.5", "decimal(38,0)"),
    ],
)
def test_values_of_another_type_are_refused(text: str, type_: str) -> None:
    with pytest.raises(ValueError, match="is not a value"):
        read_value(text, parse_type(type_))


def test_inexact_types_cannot_tell_batches_apart() -> None:
    assert "double" in type_problem(parse_type("double"))
    assert "struct" in type_problem(parse_type("struct<a:int>"))
    assert not type_problem(INT)


def test_a_batch_is_a_condition() -> None:
    found = condition(KEYS, (2020, None, "it's"))
    assert found == r"`year` = 2020 AND `day` IS NULL AND `set` = 'it\'s'"


@pytest.mark.parametrize("text", ["year=2020", "2020", "year=1/day=x/set=a", "a=1/b=2/c=3"])
def test_labels_of_other_keys_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"year=…|is not a value"):
        read_label(text, KEYS)
