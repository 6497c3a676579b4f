"""Decimals of any number of digits, exactly: arithmetic of Python's decimals rounds to 28 digits,
signs and `abs` included.
"""

from decimal import Decimal


def decimal_of(unscaled: int, scale: int) -> Decimal:
    """The decimal with these digits, of which `scale` are behind the point."""
    return Decimal(f"{unscaled}e{-scale}")


def unscaled_value(value: Decimal, scale: int) -> int | None:
    """All digits of a value as one number, `scale` of them behind the point; None if it has more
    behind the point, or is no number.
    """
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return None
    number = int("".join(map(str, digits)))
    shift = exponent + scale
    if number == 0 or shift < -len(digits):  # 1e-999999999 is not written out
        return None if number else 0
    times, over = int(10 ** max(shift, 0)), int(10 ** max(-shift, 0))
    moved, rest = divmod(number * times, over)
    if rest:
        return None
    return -moved if sign else moved


def fitted(value: Decimal, digits: int, scale: int) -> Decimal | None:
    """The value as one of `decimal(digits, scale)`; None if that type cannot hold it exactly."""
    if value and value.is_finite() and value.adjusted() >= digits:
        return None  # 1e999999999 is not written out
    unscaled = unscaled_value(value, scale)
    if unscaled is None or abs(unscaled) >= 10**digits:
        return None
    return decimal_of(unscaled, scale)
