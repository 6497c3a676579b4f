"""From which columns the columns of a query come."""

import pytest

from lakebed.sql import ColumnSource, column_lineage

ORDERS, CUSTOMERS = "shop.silver.orders", "shop.silver.customers"
SCHEMAS = {
    ORDERS: {
        "id": "bigint",
        "customer": "bigint",
        "amount": "decimal(12,2)",
        "at": "timestamp",
        "tags": "array<string>",
        "attrs": "map<string,string>",
        "Address": "struct<city:string,geo:struct<lat:double>>",
    },
    CUSTOMERS: {"id": "bigint", "name": "string", "country": "string"},
}
NAMES = {
    "lake.shop.silver.orders": ORDERS,
    "lake.shop.silver.customers": CUSTOMERS,
    "lake.shop.silver.orders.branch_run_1": ORDERS,
}
ORD, CUS = "lake.`shop`.`silver`.`orders` VERSION AS OF 5", "lake.`shop`.`silver`.`customers`"


def lineage(text: str) -> dict[str, list[str] | None]:
    """`o.x` for a column of orders, `c.x` for one of customers."""
    found = column_lineage(text, SCHEMAS, logical=lambda name: NAMES.get(name, name))
    short = {ORDERS: "o", CUSTOMERS: "c"}
    return {
        column: (
            None
            if sources is None
            else [f"{short.get(source.table, source.table)}.{source.column}" for source in sources]
        )
        for column, sources in found.items()
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"SELECT id, amount * 2 AS twice, 'x' AS k FROM {ORD}", {"id": ["o.id"], "twice": ["o.amount"], "k": []}),
        (f"SELECT * EXCEPT (at, tags, attrs, address) FROM {ORD}",
         {"id": ["o.id"], "customer": ["o.customer"], "amount": ["o.amount"]}),
        (f"SELECT c.*, o.id AS oid FROM {ORD} o JOIN {CUS} c ON o.customer = c.id",
         {"id": ["c.id"], "name": ["c.name"], "country": ["c.country"], "oid": ["o.id"]}),
        (f"WITH a AS (SELECT id AS x, amount + id AS y FROM {ORD}), b AS (SELECT * FROM a) SELECT x, y FROM b",
         {"x": ["o.id"], "y": ["o.amount", "o.id"]}),
        (f"SELECT id AS n FROM {ORD} UNION ALL SELECT id FROM {CUS} UNION ALL SELECT 1", {"n": ["c.id", "o.id"]}),
        (f"SELECT country, sum(amount) AS total, count(*) AS n FROM {ORD} JOIN {CUS} c ON customer = c.id GROUP BY country",
         {"country": ["c.country"], "total": ["o.amount"], "n": []}),
        (f"SELECT row_number() OVER (PARTITION BY customer ORDER BY at) AS rn FROM {ORD}", {"rn": ["o.at", "o.customer"]}),
        (f"SELECT (SELECT max(name) FROM {CUS} c WHERE c.id = o.customer) AS m FROM {ORD} o", {"m": ["c.name"]}),
        (f"SELECT n.big FROM (SELECT max(amount) AS big FROM {ORD}) n", {"big": ["o.amount"]}),
        (f"SELECT id, tag, k, v FROM {ORD} LATERAL VIEW explode(tags) t AS tag LATERAL VIEW explode(attrs) u AS k, v",
         {"id": ["o.id"], "tag": ["o.tags"], "k": ["o.attrs"], "v": ["o.attrs"]}),
        (f"SELECT t.c FROM {ORD} o, LATERAL explode(o.tags) AS t(c)", {"c": ["o.tags"]}),
        (f"SELECT address.city, o.address.geo.lat AS lat FROM {ORD} o", {"city": ["o.Address"], "lat": ["o.Address"]}),
        (f"SELECT orders.id FROM {ORD}", {"id": ["o.id"]}),
        ("SELECT id FROM lake.shop.silver.orders.`branch_run_1`", {"id": ["o.id"]}),
        (f"SELECT a.id AS x, b.amount AS y FROM {ORD} a JOIN {ORD} b ON a.id = b.id", {"x": ["o.id"], "y": ["o.amount"]}),
        (f"SELECT transform(tags, x -> concat(x, id)) AS up FROM {ORD}", {"up": ["o.id", "o.tags"]}),
        (f"SELECT inline(array(struct(id, amount))) AS (x, y) FROM {ORD}",
         {"x": ["o.amount", "o.id"], "y": ["o.amount", "o.id"]}),
        (f"SELECT window(at, '1 hour').start AS s, max(amount) AS m FROM {ORD} GROUP BY window(at, '1 hour')",
         {"s": ["o.at"], "m": ["o.amount"]}),
        (f"SELECT * FROM (SELECT customer, amount FROM {ORD}) PIVOT (sum(amount) FOR customer IN (1 AS one))",
         {"one": ["o.amount", "o.customer"]}),
        (f"SELECT * FROM (SELECT id, customer, amount, at FROM {ORD})"
         " PIVOT (sum(amount) AS s, max(at) AS m FOR (customer, id) IN ((1, 2) AS one))",
         {"one_s": ["o.amount", "o.customer", "o.id"], "one_m": ["o.at", "o.customer", "o.id"]}),
        (f"SELECT row_number() OVER w AS rn, sum(amount) OVER (v) AS total FROM {ORD}"
         " WINDOW W AS (PARTITION BY customer ORDER BY at), v AS w",
         {"rn": ["o.at", "o.customer"], "total": ["o.amount", "o.at", "o.customer"]}),
        (f"SELECT x.rn FROM (SELECT rank() OVER w AS rn FROM {ORD} WINDOW w AS (DISTRIBUTE BY customer SORT BY at)) x",
         {"rn": ["o.at", "o.customer"]}),
        (f"WITH a AS (SELECT sum(id) OVER w AS s FROM {CUS} WINDOW w AS (PARTITION BY country))"
         f" SELECT s, sum(amount) OVER w AS t FROM a JOIN {ORD} o ON true WINDOW w AS (ORDER BY o.id)",
         {"s": ["c.country", "c.id"], "t": ["o.amount", "o.id"]}),
        (f"WITH RECURSIVE t(n) AS (SELECT id FROM {ORD} UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT n FROM t",
         {"n": ["o.id"]}),
        (f"SELECT ID AS Big, id AS x, x + 1 AS y FROM {ORD}", {"Big": ["o.id"], "x": ["o.id"], "y": ["o.id"]}),
        (f"SELECT max(amount) FROM {ORD}", {"_col_0": ["o.amount"]}),
        ("SELECT r.id, v.x FROM range(9) r JOIN VALUES (1) AS v(x) ON true", {"id": [], "x": []}),
    ],
)  # fmt: skip
def test_each_column_is_traced_to_the_columns_it_comes_from(
    text: str, expected: dict[str, list[str]]
) -> None:
    assert lineage(text) == expected
    assert list(lineage(text)) == list(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"SELECT id, nope FROM {ORD}", {"id": ["o.id"], "nope": None}),
        ("SELECT * FROM other", {"*": None}),
        ("SELECT *, 1 AS one FROM other", {"*": None, "one": []}),
        (f"SELECT mine FROM {ORD} JOIN other ON true", {"mine": None}),
        (f"SELECT x.Mine FROM {ORD} JOIN lake.s.other x ON true", {"Mine": ["lake.s.other.Mine"]}),
        ("SELECT garbage(", {}),
        ("DROP TABLE a", {}),
    ],
)
def test_what_cannot_be_known_is_said_to_be_unknown(
    text: str, expected: dict[str, list[str] | None]
) -> None:
    assert lineage(text) == expected


def test_tables_have_their_own_names_unless_others_are_asked_for() -> None:
    assert column_lineage("SELECT a FROM s.t", {"s.t": {"a": "int"}}) == {
        "a": (ColumnSource("s.t", "a"),)
    }
