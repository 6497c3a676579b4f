"""SELECT, FROM, WHERE, GROUP BY, HAVING, QUALIFY, ORDER BY, LIMIT, SAMPLE, VALUES, WITH, set
operations, subqueries.
"""

CLAUSES: dict[str, str] = {
    "select": "SELECT id, amount FROM orders",
    "select star": "SELECT * FROM orders",
    "select star of one table": (
        "SELECT o.*, c.name FROM orders o, customers c WHERE o.customer = c.customer"
    ),
    "select all": "SELECT ALL country FROM orders",
    "select distinct": "SELECT DISTINCT country, paid FROM orders",
    "select distinct on": (
        "ORDERED SELECT DISTINCT ON (country) country, id FROM orders ORDER BY country, id DESC"
    ),
    "alias": "SELECT id AS key, amount total FROM orders AS o",
    "prefix alias": "SELECT key: id, total: amount FROM o: orders",
    "alias of columns": "SELECT x, y FROM customers AS c(x, y, z) WHERE z IS NULL",
    "alias used in where": "SELECT amount * 2 AS twice FROM orders WHERE twice > 20",
    "alias used later in select": "SELECT id + 1 AS next, next * 2 AS more FROM orders",
    "from first": "FROM orders SELECT id, country WHERE id > 3",
    "from only": "FROM orders",
    "from first with where": "FROM orders WHERE country = 'DE'",
    "select without from": "SELECT 1 AS one, 'x' AS letter",
    "trailing commas": "SELECT id, amount, FROM orders",
    "table statement": "TABLE orders",
    "whole name": "SELECT orders.id FROM orders",
    "where": "SELECT id FROM orders WHERE amount > 10 AND country <> 'FR' OR paid",
    "where in": "SELECT id FROM orders WHERE country IN ('DE', 'NL')",
    "where not in": "SELECT id FROM orders WHERE country NOT IN ('DE', 'NL')",
    "where between": (
        "SELECT id FROM orders WHERE day BETWEEN DATE '2026-01-02' AND DATE '2026-01-03'"
    ),
    "where not between": "SELECT id FROM orders WHERE id NOT BETWEEN 2 AND 5",
    "where is null": "SELECT id FROM orders WHERE country IS NULL",
    "where is not distinct from": "SELECT id FROM orders WHERE country IS NOT DISTINCT FROM NULL",
    "where like": "SELECT id FROM orders WHERE country LIKE 'D%' OR country ILIKE 'n_'",
    "where glob": "SELECT id FROM orders WHERE country GLOB '[DN]*'",
    "where similar to": "SELECT id FROM orders WHERE country SIMILAR TO '(D|F).*'",
    "where regular expression": "SELECT id FROM orders WHERE country ~ 'D.*'",
    "group by": "SELECT country, count(*), sum(amount) FROM orders GROUP BY country",
    "group by number": "SELECT country, paid, count(*) FROM orders GROUP BY 1, 2",
    "group by all": "SELECT country, paid, count(*) FROM orders GROUP BY ALL",
    "group by expression": "SELECT id % 2 AS odd, count(*) FROM orders GROUP BY id % 2",
    "group by alias": "SELECT id % 2 AS odd, count(*) FROM orders GROUP BY odd",
    "grouping sets": (
        "SELECT country, paid, count(*) FROM orders GROUP BY GROUPING SETS ((country, paid),"
        " (country), ())"
    ),
    "rollup": (
        "SELECT country, paid, count(*), grouping(country, paid) FROM orders GROUP BY ROLLUP"
        " (country, paid)"
    ),
    "cube": (
        "SELECT country, paid, count(*), grouping_id(country, paid) FROM orders GROUP BY CUBE"
        " (country, paid)"
    ),
    "having": "SELECT country, count(*) FROM orders GROUP BY country HAVING count(*) > 1",
    "having without groups": "SELECT count(*) FROM orders HAVING count(*) > 1",
    "aggregate filter": (
        "SELECT count(*) FILTER (WHERE paid), sum(amount) FILTER (country = 'DE') FROM orders"
    ),
    "aggregate distinct": "SELECT count(DISTINCT country), sum(DISTINCT customer) FROM orders",
    "aggregate order by": (
        "SELECT string_agg(country, ',' ORDER BY id DESC), list(id ORDER BY id) FROM orders"
    ),
    "aggregate within group": (
        "SELECT quantile_cont(id, 0.5), percentile_disc(0.5) WITHIN GROUP (ORDER BY id) FROM orders"
    ),
    "arg_max": "SELECT arg_max(country, id), max_by(id, id, 2), min(id, 3) FROM orders",
    "order by": "ORDERED SELECT id, country FROM orders ORDER BY country DESC NULLS LAST, id",
    "order by number": "ORDERED SELECT id, country FROM orders ORDER BY 2 NULLS FIRST, 1 DESC",
    "order by all": "ORDERED SELECT country, id FROM orders ORDER BY ALL",
    "order by expression": "ORDERED SELECT id FROM orders ORDER BY id % 3, -id",
    "order by collation": "ORDERED SELECT name FROM customers ORDER BY name COLLATE NOCASE, name",
    "limit": "ORDERED SELECT id FROM orders ORDER BY id LIMIT 3",
    "limit percent": "ORDERED SELECT id FROM orders ORDER BY id LIMIT 50%",
    "limit expression": (
        "ORDERED SELECT id FROM orders ORDER BY id LIMIT (SELECT count(*) FROM customers)"
    ),
    "offset": "ORDERED SELECT id FROM orders ORDER BY id LIMIT 3 OFFSET 2",
    "fetch first": (
        "ORDERED SELECT id FROM orders ORDER BY id OFFSET 1 ROWS FETCH FIRST 2 ROWS ONLY"
    ),
    "qualify": (
        "SELECT country, id FROM orders QUALIFY row_number() OVER (PARTITION BY country ORDER BY"
        " id) = 1"
    ),
    "sample of rows": "SELECT count(*) FROM (FROM orders USING SAMPLE 4 ROWS)",
    "sample of a table": "SELECT count(*) FROM orders TABLESAMPLE reservoir(4 ROWS)",
    "sample bernoulli": (
        "SELECT count(*) FROM (SELECT * FROM orders USING SAMPLE bernoulli(100 PERCENT))"
    ),
    "values": "VALUES (1, 'a'), (2, 'b')",
    "values as a table": (
        "SELECT v.n, o.country FROM (VALUES (1), (2), (99)) v(n) LEFT JOIN orders o ON o.id = v.n"
    ),
    "with": (
        "WITH german AS (SELECT * FROM orders WHERE country = 'DE') SELECT count(*) FROM german"
    ),
    "with columns": (
        "WITH g(a, b) AS (SELECT id, country FROM orders) SELECT a FROM g WHERE b = 'DE'"
    ),
    "with several": (
        "WITH a AS (FROM orders), b AS (SELECT id FROM a WHERE id > 2) SELECT count(*) FROM a JOIN"
        " b USING (id)"
    ),
    "with materialized": (
        "WITH a AS MATERIALIZED (FROM orders) SELECT count(*), (SELECT max(id) FROM a WHERE id < 5)"
        " AS m FROM a"
    ),
    "with not materialized": (
        "WITH a AS NOT MATERIALIZED (FROM orders) SELECT x.id FROM a x JOIN a y ON x.id = y.id + 1"
    ),
    "with nested": "WITH a AS (WITH b AS (FROM orders WHERE id > 2) SELECT id FROM b) FROM a",
    "with hides a table": "WITH orders AS (SELECT 1 AS id) FROM orders",
    "with recursive": (
        "WITH RECURSIVE up(customer, top) AS (SELECT customer, customer FROM customers WHERE parent"
        " IS NULL UNION ALL SELECT c.customer, up.top FROM customers c JOIN up ON c.parent ="
        " up.customer) SELECT * FROM up"
    ),
    "with recursive union": (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT (i + 1) % 5 FROM n) FROM n JOIN orders ON"
        " id = i"
    ),
    "with recursive using key": (
        "WITH RECURSIVE tbl(a, b) USING KEY (a) AS (SELECT customer, 0 FROM customers UNION"
        " SELECT a, b + 1 FROM tbl WHERE b < 2) SELECT * FROM tbl"
    ),
    "union": "SELECT customer FROM orders UNION SELECT customer FROM customers",
    "union all": (
        "SELECT customer FROM orders UNION ALL SELECT customer FROM customers WHERE customer > 1"
    ),
    "union by name": (
        "SELECT customer, id FROM orders UNION BY NAME SELECT name, customer FROM customers"
    ),
    "union all by name": (
        "SELECT id, country FROM orders WHERE id = 1 UNION ALL BY NAME SELECT country, id FROM"
        " orders"
    ),
    "intersect": "SELECT customer FROM orders INTERSECT SELECT customer FROM customers",
    "intersect all": (
        "SELECT customer FROM orders INTERSECT ALL SELECT customer FROM orders WHERE id > 2"
    ),
    "except": "SELECT customer FROM customers EXCEPT SELECT customer FROM orders",
    "except all": "SELECT customer FROM orders EXCEPT ALL SELECT customer FROM customers",
    "set operation in brackets": (
        "ORDERED (SELECT id FROM orders ORDER BY id LIMIT 2) UNION ALL (SELECT 100) ORDER BY id"
        " DESC"
    ),
}
