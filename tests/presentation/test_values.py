"""JSON-ready values: everything `json.dumps` is given has a form it knows."""

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

from lakebed.errors import LeaseHeld
from lakebed.names import TableName
from lakebed.presentation.values import error_json, fields_of, json_ready


@dataclass(frozen=True)
class _Inner:
    at: datetime


@dataclass(frozen=True)
class _Outer:
    name: str
    inner: _Inner
    many: tuple[_Inner, ...] = ()


AT = datetime(2026, 11, 15, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (3, 3),
        ("é", "é"),
        (AT, "2026-11-15T09:30:00+00:00"),
        (date(2026, 11, 15), "2026-11-15"),
        (Decimal("1.50"), "1.50"),
        ((1, (2,)), [1, [2]]),
        (MappingProxyType({"a": (AT,)}), {"a": ["2026-11-15T09:30:00+00:00"]}),
        (
            _Outer("x", _Inner(AT)),
            {"name": "x", "inner": {"at": "2026-11-15T09:30:00+00:00"}, "many": []},
        ),
    ],
)
def test_any_value_has_a_form_that_json_knows(value: Any, expected: Any) -> None:
    assert json_ready(value) == expected
    assert json.loads(json.dumps(json_ready(value))) == expected


def test_fields_are_replaced_in_their_place_and_others_are_added_behind() -> None:
    shown = fields_of(
        _Outer("x", _Inner(AT)), name=TableName("shop", "silver", "orders").parts, label="OK"
    )
    assert list(shown) == ["name", "inner", "many", "label"]
    assert shown["name"] == ["shop", "silver", "orders"]


def test_an_error_says_whether_to_try_again() -> None:
    error = LeaseHeld("orders", "Alice", 3, 60)
    assert error_json(error) == {"error": error.as_dict() | {"retryable": True}}
