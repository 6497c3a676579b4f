"""Rows that a comparison shows."""

from decimal import Decimal

from lakebed.ports import Field
from lakebed.tables.history.diff import read_row


def test_a_decimal_keeps_every_digit_and_a_double_stays_a_double() -> None:
    columns = [
        Field("m", "decimal(38,18)"),
        Field("x", "double"),
        Field("s", "struct<a:decimal(9,2)>"),
        Field("n", "bigint"),
    ]
    row = read_row(
        '{"m":12345678901234567890.123456789012345678,"x":0.1,"s":{"a":12.50},"n":null}', columns
    )
    assert row == {
        "m": Decimal("12345678901234567890.123456789012345678"),
        "x": 0.1,
        "s": {"a": Decimal("12.50")},
        "n": None,
    }
    assert isinstance(row["x"], float)
    assert str(row["s"]["a"]) == "12.50"
