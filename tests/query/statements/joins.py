"""Joins of every kind, subqueries of every kind, and functions in place of tables."""

JOINS: dict[str, str] = {
    "inner join": "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.customer",
    "join using": "SELECT customer, id, name FROM orders INNER JOIN customers USING (customer)",
    "natural join": "SELECT * FROM customers NATURAL JOIN (SELECT customer, id FROM orders)",
    "left join": (
        "SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON o.customer = c.customer AND"
        " c.parent IS NULL"
    ),
    "right join": (
        "SELECT o.id, c.name FROM orders o RIGHT JOIN customers c ON o.customer = c.customer WHERE"
        " c.customer > 1"
    ),
    "full join": (
        "SELECT o.id, c.name FROM orders o FULL OUTER JOIN customers c ON o.customer = c.customer"
        " AND o.paid"
    ),
    "cross join": "SELECT o.id, c.customer FROM orders o CROSS JOIN customers c",
    "comma join": "SELECT o.id, c.customer FROM orders o, customers c WHERE o.id < 3",
    "semi join": "SELECT id FROM orders SEMI JOIN customers USING (customer)",
    "anti join": "SELECT id FROM orders ANTI JOIN customers USING (customer)",
    "positional join": (
        "SELECT * FROM (SELECT id FROM orders ORDER BY 1) POSITIONAL JOIN (SELECT name FROM"
        " customers ORDER BY 1)"
    ),
    "asof join": (
        "SELECT o.id, p.rate FROM orders o ASOF JOIN prices p ON o.country = p.country AND o.at >="
        " p.at"
    ),
    "asof left join": (
        "SELECT o.id, p.rate FROM orders o ASOF LEFT JOIN prices p ON o.country = p.country AND"
        " o.at >= p.at"
    ),
    "asof join using": 'SELECT id, rate FROM orders ASOF JOIN prices USING (country, "at")',
    "inequality join": (
        "SELECT a.id, b.id FROM orders a JOIN orders b ON a.id < b.id AND a.customer > b.customer"
    ),
    "self join": (
        "SELECT a.customer, b.name FROM customers a JOIN customers b ON a.parent = b.customer"
    ),
    "lateral join": "SELECT o.id, q.twice FROM orders o, LATERAL (SELECT o.id * 2 AS twice) q",
    "lateral join of a table": (
        "SELECT c.customer, q.n FROM customers c,"
        " (SELECT count(*) AS n FROM orders o WHERE o.customer = c.customer) q"
    ),
    "lateral left join": (
        "SELECT c.customer, q.id FROM customers c"
        " LEFT JOIN LATERAL (SELECT id FROM orders o WHERE o.customer = c.customer) q ON true"
    ),
    "joins in brackets": (
        "SELECT id, rate FROM orders LEFT JOIN (customers c JOIN prices ON customer = rate) USING"
        " (customer)"
    ),
    "subquery in from": (
        "SELECT max(n) FROM (SELECT country, count(*) AS n FROM orders GROUP BY country)"
    ),
    "scalar subquery": "SELECT id, (SELECT max(amount) FROM orders) AS most FROM orders",
    "correlated scalar subquery": (
        "SELECT id, (SELECT name FROM customers c WHERE c.customer = o.customer) AS name FROM"
        " orders o"
    ),
    "exists": (
        "SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM customers c WHERE c.customer ="
        " o.customer AND parent IS NULL)"
    ),
    "not exists": (
        "SELECT id FROM orders o WHERE NOT EXISTS (FROM customers c WHERE c.customer = o.customer)"
    ),
    "in subquery": (
        "SELECT id FROM orders WHERE customer IN (SELECT customer FROM customers WHERE parent = 1)"
    ),
    "not in subquery": (
        "SELECT id FROM orders WHERE customer NOT IN (SELECT customer FROM customers WHERE parent"
        " = 1)"
    ),
    "any subquery": "SELECT id FROM orders WHERE customer = ANY (SELECT customer FROM customers)",
    "all subquery": "SELECT id FROM orders WHERE amount >= ALL (SELECT amount FROM orders)",
    "several columns in subquery": (
        "SELECT id FROM orders WHERE (customer, country) IN (SELECT customer, 'DE' FROM customers)"
    ),
    "list of a subquery": "SELECT ARRAY(SELECT id FROM orders ORDER BY id) AS ids",
    "subquery in having": (
        "SELECT country FROM orders GROUP BY country HAVING count(*) > (SELECT count(*) / 4 FROM"
        " orders)"
    ),
    "subquery as a struct": "SELECT (SELECT c FROM customers c WHERE customer = 1) AS row",
    "range in from": "SELECT r.range, o.country FROM range(1, 4) r JOIN orders o ON o.id = r.range",
    "generate_series in from": (
        "SELECT day, n FROM generate_series(1, 3) g(n) JOIN orders ON id = n"
    ),
    "unnest in from": "SELECT o.id, t.tag FROM orders o, unnest(o.tags) AS t(tag)",
    "with ordinality": (
        "SELECT * FROM unnest(['a', 'b']) WITH ORDINALITY AS t(x, place) JOIN orders ON id = place"
    ),
    "json_each in from": (
        "SELECT o.id, j.key, j.value FROM orders o, json_each({'a': o.id}::JSON) j"
    ),
    "query_table": "SELECT count(*) FROM query_table('orders')",
    "query_table of several": "SELECT count(*) FROM query_table(['orders', 'orders'])",
    "query_table of with": (
        "WITH x AS (FROM orders WHERE id > 2) SELECT count(*) FROM query_table('x')"
    ),
    "histogram": "FROM histogram_values('orders', customer)",
}
