"""Decimals keep every digit, against plain integers."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.types import decimal_of, fitted, unscaled_value

UNSCALED = st.integers(-(10**38) + 1, 10**38 - 1)
SCALES = st.integers(0, 38)


@given(UNSCALED, SCALES)
def test_no_digit_is_lost_on_the_way_to_a_decimal_and_back(unscaled: int, scale: int) -> None:
    value = decimal_of(unscaled, scale)
    assert unscaled_value(value, scale) == unscaled
    assert fitted(value, 38, scale) == value
    assert format(value, "f").replace(".", "").lstrip("-0") == str(abs(unscaled)).lstrip("0")


@given(UNSCALED, SCALES, st.integers(1, 38), SCALES)
def test_a_decimal_fits_a_type_that_has_all_of_its_digits(
    unscaled: int, scale: int, digits: int, other: int
) -> None:
    exact = unscaled * 10**other
    fits = exact % 10**scale == 0 and abs(exact // 10**scale) < 10**digits
    value = fitted(decimal_of(unscaled, scale), digits, other)
    assert (value is not None) is fits
    if value is not None:
        assert value == decimal_of(unscaled, scale)
        assert -int(value.as_tuple().exponent) == other


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "1e999999999", "1e-999999999"])
def test_what_no_type_holds_is_told_at_once(text: str) -> None:
    assert fitted(Decimal(text), 38, 10) is None


@pytest.mark.parametrize("text", ["0e999999999", "-0e-999999999", "-0.0"])
def test_every_zero_is_one_zero(text: str) -> None:
    assert str(fitted(Decimal(text), 5, 2)) == "0.00"
