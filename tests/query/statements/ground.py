"""The tables that the statements read: every common type, several files each."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

SCHEMAS = {
    "orders": pa.schema(
        [
            pa.field("id", pa.int64()),
            pa.field("customer", pa.int32()),
            pa.field("amount", pa.decimal128(9, 2)),
            pa.field("country", pa.string()),
            pa.field("day", pa.date32()),
            pa.field("at", pa.timestamp("us")),
            pa.field("paid", pa.bool_()),
            pa.field("tags", pa.list_(pa.string())),
            pa.field(
                "addr", pa.struct([pa.field("city", pa.string()), pa.field("zip", pa.int32())])
            ),
            pa.field("attrs", pa.map_(pa.string(), pa.int32())),
        ]
    ),
    "customers": pa.schema(
        [
            pa.field("customer", pa.int32()),
            pa.field("name", pa.string()),
            pa.field("parent", pa.int32()),
        ]
    ),
    "prices": pa.schema(
        [
            pa.field("country", pa.string()),
            pa.field("at", pa.timestamp("us")),
            pa.field("rate", pa.int32()),
        ],
    ),
    "months": pa.schema(
        [
            pa.field("country", pa.string()),
            *(pa.field(name, pa.int32()) for name in ("jan", "feb", "mar")),
        ]
    ),
}
_COUNTRIES = ["DE", "NL", None, "FR", "DE", "DE", "NL", "dé"]
_START = datetime(2026, 1, 1, 12)  # noqa: DTZ001


def _order(number: int) -> dict[str, object]:
    return {
        "id": number,
        "customer": number % 4,
        "amount": Decimal(number * 525).scaleb(-2),
        "country": _COUNTRIES[number % 8],
        "day": date(2026, 1, 1) + timedelta(days=number // 2),
        "at": _START + timedelta(hours=7 * number),
        "paid": None if number == 5 else number % 3 == 0,
        "tags": None if number == 2 else ["a", "b", "c"][: number % 4],
        "addr": None if number == 3 else {"city": f"city {number}", "zip": number},
        "attrs": [("k", number), ("l", 1)] if number % 2 else [],
    }


def parts() -> dict[str, list[pa.Table]]:
    """Each table's commits."""
    rows: dict[str, list[list[dict[str, object]]]] = {
        "orders": [
            [_order(number) for number in numbers]
            for numbers in (range(3), range(3, 6), range(6, 8))
        ],
        "customers": [
            [
                {"customer": 0, "name": "ann", "parent": None},
                {"customer": 1, "name": "Bob", "parent": 0},
            ],
            [
                {"customer": 2, "name": None, "parent": 1},
                {"customer": 9, "name": "Zoe", "parent": None},
            ],
        ],
        "prices": [
            [
                {"country": "DE", "at": _START, "rate": 1},
                {"country": "NL", "at": _START, "rate": 2},
            ],
            [{"country": "DE", "at": _START + timedelta(hours=30), "rate": 0}],
        ],
        "months": [
            [{"country": "DE", "jan": 1, "feb": 2, "mar": 3}],
            [{"country": "NL", "jan": 4, "feb": None, "mar": 6}],
        ],
    }
    return {
        name: [pa.Table.from_pylist(part, schema=SCHEMAS[name]) for part in found]
        for name, found in rows.items()
    }
