"""A small shop: its pipelines and the files in its landing zones. The same bytes every time."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from pathlib import Path
from random import Random

NAMESPACE = "ecommerce"
_COUNTRIES = ("DE", "NL", "FR", "PL", "SE")
_STATUSES = ("placed", "paid", "shipped", "returned")
_PRODUCTS = (
    ("kettle", "kitchen", 39.90),
    ("desk lamp", "light", 54.00),
    ("wool blanket", "home", 89.50),
    ("espresso cups", "kitchen", 24.00),
    ("bookshelf", "furniture", 149.00),
    ("plant pot", "home", 17.25),
)
_FIRST_DAY = date(2026, 10, 1)
_DAYS, _ORDERS_A_DAY, _CUSTOMERS = 3, 200, 120


def shop() -> dict[str, bytes]:
    """Files by path below the lake's root: pipelines; orders as one CSV per day, customers as CSV,
    products as NDJSON.
    """
    chance = Random(20261001)  # noqa: S311 - sample data
    landing = f"{NAMESPACE}/landing"
    days = [_FIRST_DAY + timedelta(days=number) for number in range(_DAYS)]
    orders = {f"{landing}/orders/orders_{day}.csv": _csv(_orders(day, chance)) for day in days}
    return (
        _written_files()
        | orders
        | {
            f"{landing}/customers/customers.csv": _csv(_customers(chance)),
            f"{landing}/products/products.ndjson": _ndjson(_products()),
        }
    )


def _written_files() -> dict[str, bytes]:
    """The files that users would write themselves, as they will be in the lake."""
    top = Path(__file__).parent / "shop_files"
    files = sorted(
        path for path in top.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in files}


def _orders(day: date, chance: Random) -> list[dict[str, object]]:
    first = (day - _FIRST_DAY).days * _ORDERS_A_DAY + 1
    return [_order(number, day, chance) for number in range(first, first + _ORDERS_A_DAY)]


def _order(number: int, day: date, chance: Random) -> dict[str, object]:
    product = chance.randrange(len(_PRODUCTS))
    quantity = chance.choice((1, 1, 1, 2, 3))
    return {
        "order_id": number,
        "customer_id": chance.randint(1, _CUSTOMERS),
        "product_id": product + 1,
        "quantity": quantity,
        "amount": f"{_PRODUCTS[product][2] * quantity:.2f}",
        "status": chance.choice(_STATUSES),
        "updated_at": f"{day}T{chance.randint(0, 23):02d}:{chance.randint(0, 59):02d}:00Z",
    }


def _customers(chance: Random) -> list[dict[str, object]]:
    return [
        {
            "customer_id": number,
            "name": f"Customer {number:03d}",
            "country": chance.choice(_COUNTRIES),
        }
        for number in range(1, _CUSTOMERS + 1)
    ]


def _products() -> list[dict[str, object]]:
    return [
        {"product_id": number, "name": name, "category": category, "price": price}
        for number, (name, category, price) in enumerate(_PRODUCTS, start=1)
    ]


def _csv(rows: list[dict[str, object]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _ndjson(rows: Iterable[Mapping[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
