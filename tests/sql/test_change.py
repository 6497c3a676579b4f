"""Statements that change one table, taken apart and put together again about a branch."""

import pytest

from lakebed.errors import BadPipeline
from lakebed.sql import read_change

CASES = [
    ("INSERT INTO shop.silver.orders VALUES (1)", "insert", "INSERT INTO b VALUES (1)"),
    ("insert into table orders select * from x;", "insert", "insert into table b select * from x"),
    ("INSERT OVERWRITE orders SELECT 1 AS id", "insert", "INSERT OVERWRITE b SELECT 1 AS id"),
    ("UPDATE orders SET v = 1 WHERE orders.id = 2", "update", "UPDATE b AS o SET v = 1 WHERE orders.id = 2"),
    ("UPDATE orders AS x SET v = 1", "update", "UPDATE b AS x SET v = 1"),
    ("UPDATE orders x SET v = 1", "update", "UPDATE b x SET v = 1"),
    ("DELETE FROM silver.`odd name`", "delete", "DELETE FROM b AS o"),
    ("DELETE FROM orders WHERE id = 1 -- orders", "delete", "DELETE FROM b AS o WHERE id = 1"),
    ("/* orders */ DELETE FROM orders", "delete", "             DELETE FROM b AS o"),
    ("MERGE INTO orders USING x ON x.id = orders.id WHEN MATCHED THEN DELETE", "merge",
     "MERGE INTO b AS o USING x ON x.id = orders.id WHEN MATCHED THEN DELETE"),
    ("ALTER TABLE orders ADD COLUMN note STRING", "alter", "ALTER TABLE b ADD COLUMN note STRING"),
    ("ALTER TABLE orders DROP COLUMN note", "alter", "ALTER TABLE b DROP COLUMN note"),
    ("ALTER TABLE orders RENAME COLUMN a TO b", "alter", "ALTER TABLE b RENAME COLUMN a TO b"),
    ("ALTER TABLE orders REPLACE PARTITION FIELD a WITH b", "alter", "ALTER TABLE b REPLACE PARTITION FIELD a WITH b"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "branched"), CASES)
def test_only_the_target_is_replaced(text: str, kind: str, branched: str) -> None:
    change = read_change(text)
    assert (change.kind, change.on("b", alias="o")) == (kind, branched)


def test_the_target_is_what_was_named() -> None:
    assert read_change("DELETE FROM shop.silver.`odd.name`").target == (
        "shop",
        "silver",
        "odd.name",
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "DROP TABLE orders",
        "TRUNCATE TABLE orders",
        "DELETE FROM orders; DELETE FROM customers",
        "INSERT INTO",
        "UPDATE 'orders' SET v = 1",
        "ALTER TABLE orders RENAME TO older",
        "ALTER TABLE orders CREATE BRANCH x",
        "ALTER TABLE orders DROP TAG x",
        "",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(BadPipeline):
        read_change(text)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("UPDATE orders SET v = nope", "nope"),
        ("UPDATE orders\nSET v = 1\nWHERE nope > 2", "nope"),
        ("DELETE FROM silver.orders o WHERE o.nope = 1", "o.nope"),
        ("MERGE INTO orders USING nope n ON n.id = orders.id WHEN MATCHED THEN DELETE", "nope"),
        ("INSERT INTO shop.silver.orders SELECT nope", "nope"),
    ],
)
def test_positions_are_those_of_the_statement_that_was_written(text: str, wrong: str) -> None:
    place, alias = "`lake`.`shop`.`silver`.`orders`.`branch_run_0123456789`", "`orders`"
    change = read_change(text)
    line, column = position(change.on(place, alias=alias), wrong)
    said = change.with_own_positions(
        f"cannot resolve it; line {line} pos {column}.", place, alias=alias
    )
    assert said == "cannot resolve it; line {} pos {}.".format(*position(text, wrong))


def position(text: str, word: str) -> tuple[int, int]:
    """Line and column as Spark counts them."""
    at = text.index(word)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at) - 1
