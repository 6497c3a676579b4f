"""Queries as people write them.

Each is valid Spark SQL: `test_against_spark.py` has Spark say so.
"""

SNAPSHOT = 1234567890123  # stands for a real one when Spark reads the query

PLAIN = [
    "SELECT id, name FROM orders",
    (
        "SELECT DISTINCT country FROM orders WHERE amount > 10 ORDER BY country DESC NULLS LAST"
        " LIMIT 5 OFFSET 2"
    ),
    "SELECT ALL id FROM orders LIMIT ALL",
    "SELECT -id, +id, - -1, id AS order, name AS `select`, amount total FROM orders",
    "SELECT `weird column`, `größe`, `a``b`, o.date, o.order, o.group FROM orders o",
    "SELECT date, timestamp, value, type, key, status, comment, format, text, first FROM words",
    "SELECT json.a, text.b FROM words",
    (
        "SELECT CASE WHEN amount > 10 THEN 'big' ELSE 'small' END, CASE status WHEN 'a' THEN 1 END,"
        " if(amount > 1, 1, 0) FROM orders"
    ),
    (
        "SELECT id FROM orders WHERE name IS NOT DISTINCT FROM 'a' AND amount BETWEEN 1 AND 2 AND"
        " NOT (id % 2 = 0) AND id DIV 2 = 1"
    ),
    (
        "SELECT id & 1, id | 2, id ^ 3, ~id, id << 2, id >> 1, name || name, id == 1, id != 1, id"
        " <> 1, !true FROM orders"
    ),
    "SELECT id >>> 1, X 'F0', X'70', id >> 2 FROM orders",
    (
        "SELECT name LIKE 'a%' ESCAPE '!', name RLIKE '^a', name ILIKE '%B', name LIKE ANY ('a%',"
        " 'b%') FROM orders"
    ),
    "SELECT id FROM orders WHERE (id, name) IN (SELECT id, name FROM customers)",
    "SELECT id FROM orders WHERE (country, status) = ('a', 'b')",
    "FROM orders SELECT id, name WHERE amount > 0",
    "SELECT name COLLATE UTF8_LCASE FROM orders",
    "SELECT qualify.id, name AS qualify FROM orders qualify WHERE qualify.id > 1",
    (
        "SELECT a, qualify FROM (SELECT id, name AS qualify FROM orders) qualify (a, qualify) ORDER"
        " BY qualify"
    ),
    "SELECT * EXCEPT (secret) FROM orders",
    "SELECT o.* EXCEPT (secret, name) FROM orders o",
    "SELECT id,\n  -- why\n  name /* because; of (this */ FROM orders -- end",
]
LITERALS = [
    (
        "SELECT at + INTERVAL 1 DAY, at - INTERVAL '2' HOUR, INTERVAL '1-2' YEAR TO MONTH, INTERVAL"
        " 1 YEAR 2 MONTHS FROM orders"
    ),
    r"""SELECT r'\d+\.\d', R"raw \n", 'it''s', 'it\'s', "double ""quoted"" it's", 'a' 'b', '\\', '--', '/*', "`", 1""",
    (
        "SELECT TIMESTAMP_NTZ '2026-01-01 00:00:00', TIMESTAMP_LTZ'2026-01-01 00:00:00',"
        " DATE'2026-01-01', TIMESTAMP '2026-01-01'"
    ),
    "SELECT X'1F', 1L, 2S, 3Y, 1.5BD, 1e3, 2.5D, 1F, .5, 1., 1.e2, 12.0E-3",
    "SELECT TIME '10:00:00', current_date, current_timestamp(), now(), current_user()",
    """SELECT to_timestamp(raw, "yyyy-MM-dd'T'HH:mm:ss"), '$.a', '$', '{}' FROM orders""",
    "SELECT '1'::INT, id::string, try_cast('x' AS INT), CAST(amount AS DECIMAL(10, 2)) FROM orders",
    (
        "SELECT cast('2026-01-01' AS TIMESTAMP WITHOUT TIME ZONE), CAST(NULL AS STRUCT<a: INT, b:"
        " ARRAY<MAP<STRING, INT>>>)"
    ),
]
NESTED = [
    "SELECT address.city, address.geo.lat, tags[0], attrs['k'], items[0].sku FROM orders",
    "SELECT named_struct('a', 1, 'b', 'x') AS s, struct(id, name AS n) AS t FROM orders",
    (
        "SELECT transform(tags, x -> upper(x)) AS up, filter(tags, (x, i) -> i > 0) AS rest FROM"
        " orders"
    ),
    "SELECT aggregate(array(1, 2, 3), 0, (acc, x) -> acc + x, acc -> acc * 10) AS s",
    (
        "SELECT map('a', 1), map_from_entries(array(struct('a', 1))), array(1, 2)[0],"
        " element_at(array(1), 1)"
    ),
    (
        "SELECT from_json(raw, 'a INT, b STRING') AS j, get_json_object(raw, '$.a.b'),"
        " to_json(struct(id)) FROM orders"
    ),
    "SELECT j.* FROM (SELECT from_json(raw, 'STRUCT<a: INT, b: ARRAY<STRING>>') AS j FROM orders)",
    "SELECT parse_json(raw), variant_get(parse_json(raw), '$.a', 'int') FROM orders",
    "SELECT v:a.b, v:c[0] FROM (SELECT parse_json(raw) AS v FROM orders)",
    "SELECT from_xml(raw, 'a INT'), from_xml(raw, 'a INT', map('mode', 'FAILFAST')) FROM orders",
    "SELECT mask('AbCD123', lowerChar => 'q', upperChar => 'Q')",
    "SELECT max(struct(at, id)).id FROM orders",
]
GROUPS = [
    "SELECT country, count(*) FROM orders GROUP BY ALL",
    (
        "SELECT country, status, sum(amount) FROM orders GROUP BY country, status GROUPING SETS"
        " ((country, status), (country), ())"
    ),
    (
        "SELECT country, status, sum(amount) FROM orders GROUP BY GROUPING SETS ((country, status),"
        " country)"
    ),
    "SELECT country, status, sum(amount) FROM orders GROUP BY CUBE (country, status)",
    "SELECT country, status, sum(amount) FROM orders GROUP BY country, status WITH ROLLUP",
    "SELECT grouping(country), grouping_id() FROM orders GROUP BY ROLLUP (country)",
    "SELECT country, count(*) AS n FROM orders GROUP BY country HAVING count(*) > 1 AND n > 2",
    (
        "SELECT count(*) FILTER (WHERE status = 'paid'), count(DISTINCT customer),"
        " percentile_approx(amount, 0.5) FROM orders"
    ),
    (
        "SELECT listagg(name, ',') WITHIN GROUP (ORDER BY name), collect_list(name), max_by(name,"
        " amount) FROM orders"
    ),
    "SELECT first(name) IGNORE NULLS, last_value(name, true), any_value(name) FROM orders",
    "SELECT window.start, sum(amount) FROM orders GROUP BY window(at, '1 hour')",
    (
        "SELECT status, window(at, '1 hour') AS w, count(*) FROM orders GROUP BY status, window(at,"
        " '1 hour')"
    ),
]
WINDOWS = [
    "SELECT id, row_number() OVER (PARTITION BY country ORDER BY amount DESC) AS rn FROM orders",
    (
        "SELECT id, sum(amount) OVER w FROM orders WINDOW w AS (PARTITION BY country ORDER BY at"
        " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    ),
    (
        "SELECT id, avg(amount) OVER (ORDER BY at RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND"
        " CURRENT ROW) AS m FROM orders"
    ),
    "SELECT lag(amount, 1, 0) IGNORE NULLS OVER (ORDER BY at) FROM orders",
]
SOURCES = [
    "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT * FROM b",
    "WITH t(x, y) AS (SELECT 1, 2) SELECT x FROM t",
    (
        "WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 10) SELECT n"
        " FROM t"
    ),
    "VALUES (1, 'a'), (2, 'b')",
    "SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(id, name)",
    "SELECT * FROM (VALUES (1), (2)) AS v(x)",
    "SELECT n FROM VALUES 1, 2 AS tab(n) UNION ALL SELECT m FROM VALUES 3, 4 tab(m)",
    (
        "SELECT id FROM a UNION ALL SELECT id FROM b EXCEPT SELECT id FROM c INTERSECT SELECT id"
        " FROM d"
    ),
    "SELECT id FROM a MINUS SELECT id FROM b",
    "(SELECT id FROM a) UNION (SELECT id FROM b) ORDER BY id",
    "SELECT a.id FROM orders a JOIN orders b ON a.id <=> b.id",
    "SELECT a.id FROM orders a LEFT SEMI JOIN customers b ON a.customer = b.id",
    "SELECT a.id FROM orders a LEFT ANTI JOIN customers b USING (id)",
    "SELECT a.id FROM a NATURAL JOIN b",
    "SELECT a.id FROM orders a FULL OUTER JOIN customers b ON a.customer = b.id CROSS JOIN c",
    (
        "SELECT id FROM orders WHERE id IN (SELECT id FROM customers) AND EXISTS (SELECT 1 FROM c"
        " WHERE c.id = orders.id) AND amount = (SELECT max(amount) FROM orders)"
    ),
    "SELECT (SELECT max(id) FROM orders) AS m",
    f"SELECT o.id FROM lake.`ecommerce`.`silver`.`orders` VERSION AS OF {SNAPSHOT} AS o",
    f"SELECT o.id FROM lake.ecommerce.silver.orders FOR VERSION AS OF {SNAPSHOT} o",
    "SELECT o.id FROM lake.ecommerce.silver.orders TIMESTAMP AS OF '2999-01-01 00:00:00' o",
    (
        "SELECT id, days FROM (SELECT id, lake.system.bucket(16, id) AS days FROM"
        " lake.ecommerce.silver.orders)"
    ),
    "SELECT /*+ BROADCAST(o), COALESCE(3) */ o.id FROM orders o",
    "SELECT /*+ REPARTITION(8, id) */ * FROM orders",
    "SELECT * FROM orders TABLESAMPLE (10 PERCENT) REPEATABLE (42)",
    "SELECT * FROM orders TABLESAMPLE (5 ROWS) AS s",
    "SELECT * FROM orders TABLESAMPLE (BUCKET 4 OUT OF 10)",
    "SELECT id FROM orders DISTRIBUTE BY country SORT BY id",
    "SELECT id FROM orders CLUSTER BY id",
    "SELECT id FROM orders |> WHERE id > 1",
    "FROM orders |> WHERE amount > 1 |> AGGREGATE sum(amount) AS total GROUP BY country",
]
LATERALS = [
    "SELECT id, tag FROM orders LATERAL VIEW explode(tags) t AS tag",
    "SELECT id, k, v FROM orders LATERAL VIEW OUTER explode(attrs) x AS k, v",
    "SELECT id, pos, tag FROM orders LATERAL VIEW posexplode(tags) t AS pos, tag",
    "SELECT o.id, t.c FROM orders o, LATERAL explode(o.tags) AS t(c)",
    (
        "SELECT o.id, x.n FROM orders o JOIN LATERAL (SELECT count(*) AS n FROM customers c WHERE"
        " c.id = o.customer) x"
    ),
    "SELECT o.id FROM orders o LEFT JOIN LATERAL (SELECT 1 AS n) x ON true",
    "SELECT t.value FROM orders, LATERAL variant_explode(parse_json(raw)) AS t",
    "SELECT * FROM range(10)",
    "SELECT id FROM range(1, 10, 2) AS r(id)",
    "SELECT * FROM explode(array(1, 2))",
    "SELECT explode(sequence(1, 10)) AS n",
    "SELECT inline(array(struct(1, 'a'), struct(2, 'b'))) AS (x, y)",
    "SELECT stack(2, 1, 'a', 2, 'b') AS (n, s)",
    (
        "SELECT * FROM (SELECT country, status, amount FROM orders) "
        "PIVOT (sum(amount) AS total FOR status IN ('new' AS new, 'paid'))"
    ),
    "SELECT * FROM wide UNPIVOT (value FOR kind IN (a, b AS bee))",
    "SELECT * FROM wide UNPIVOT INCLUDE NULLS ((v1, v2) FOR k IN ((a, b) AS ab, (b, a) AS ba))",
]
FUNCTIONS = [
    (
        "SELECT extract(YEAR FROM at), date_trunc('month', at), date_add(at, 1), dateadd(DAY, 1,"
        " at), timestampdiff(HOUR, at, at), date_diff(DAY, at, at) FROM orders"
    ),
    (
        "SELECT trim(BOTH 'x' FROM name), substring(name FROM 1 FOR 2), substring(name, 1, 2),"
        " overlay(name PLACING 'x' FROM 1 FOR 2), position('a' IN name), input_file_name(),"
        " raise_error('no') FROM orders"
    ),
    (
        "SELECT shuffle(tags, 5), any_value(name, true), first_value(name, true), concat() FROM"
        " orders GROUP BY tags"
    ),
    (
        "SELECT replace(replace(replace(name, 'a', ''), 'b', ''), 'c', ''), regexp_replace(name,"
        " '(a)(b)$', '$2$1') FROM orders"
    ),
]
RARE = [  # the parser has to be helped with these
    "TABLE orders",
    "WITH o AS (TABLE orders) SELECT id FROM o UNION ALL (SELECT id FROM (TABLE orders))",
    "WITH o AS (SELECT 1 AS id) TABLE o",
    "SELECT id FROM customers WHERE EXISTS (TABLE orders)",
    "SELECT * FROM orders WITH (`split-size` = 5)",
    (
        "SELECT * FROM orders WITH ('split-size' = '5', `batch-size` = 100) AS o JOIN customers c"
        " ON c.id = o.customer"
    ),
    "SELECT values FROM (SELECT 1 AS values)",
    "SELECT values, x.values FROM (SELECT 1 AS values, 2 AS b) x",
]
COMMENTS = [
    "SELECT 1 /* a /* nested */ comment */ AS a",
    "SELECT /* /* a */ /* b /*/ c */ */ */ 1 AS a",
]
VALID = [*PLAIN, *LITERALS, *NESTED, *GROUPS, *WINDOWS, *SOURCES, *LATERALS, *FUNCTIONS, *RARE]

COLUMNS = {
    "orders": (
        *(
            "id",
            "name",
            "country",
            "status",
            "amount",
            "at",
            "tags",
            "attrs",
            "address",
            "items",
            "raw",
            "customer",
            "secret",
        ),
        *("weird column", "größe", "a`b", "date", "order", "group"),
    ),
    "words": (
        "date",
        "timestamp",
        "value",
        "type",
        "key",
        "status",
        "comment",
        "format",
        "text",
        "first",
        "json",
    ),
    "wide": ("a", "b"),
    "lake.ecommerce.silver.orders": ("id",),
    **dict.fromkeys(["customers", "a", "b", "c", "d"], ("id", "name")),
}

# Refused by Spark's parser: the text, and what it stops at.
WRONG_SYNTAX = [
    ("SELECT 1 AS a,, 2 AS b", ","),
    ("SELECT id FRM orders", "orders"),
    ("SELECT id FROM orders WERE id = 1", "id"),
    ("SELECT id name total FROM orders", "total"),
    ("SELECT id FROM orders GROUP id", "id"),
    ("SELECT id FROM orders ORDER amount", "amount"),
    ("SELECT id FROM orders WHERE id = = 1", "="),
    ("SELECT id FROM orders WHERE (id = 1) name = 2", "name"),
    ("SELECT count(*) AS n FROM orders GROUP BY country HAVING n >", "end"),
    ("SELECT 1 +", "end"),
    ("SELECT CASE WHEN id = 1 THEN 2 FROM orders", "FROM"),
    ("SELECT id FROM orders JOIN ON orders.id = 1", "."),
    ("SELECT id FROM orders LIMIT 1 WHERE id = 1", "WHERE"),
    ("SELECT id FROM orders WHERE id IN 1, 2", "1"),
    ("SELECT id FROM orders WHERE id BETWEEN 1", "end"),
    ("SELECT cast(id INT) FROM orders", "INT"),
    ("SELECT id FROM orders UNION SELECT id FROM orders WHERE id >", "end"),
    ("SELECT sum(amount) OVER PARTITION BY id FROM orders", "id"),
    ("WITH a AS SELECT 1 SELECT * FROM a", "SELECT"),
    ("SELECT id FROM orders o o", "o"),
    ("SELECT INTERVAL '1' FROM orders WHERE id <> > 1", ">"),
    ("SELECT a-b.c FROM orders x-y", "-"),
    ("SELECT id FROM orders /*+ BROADCAST(o) */ WHERE id = 1", "/*+"),
]

# Refused by Spark's analysis: the text, what is not there, and what is suggested.
WRONG_NAMES = [
    ("SELECT uper(name) FROM orders", "function uper()", "upper"),
    ("SELECT id FROM orders WHERE concatt(name, 'a') = 'b'", "function concatt()", "concat"),
    ("SELECT lake.system.bukcet(16, id) FROM orders", "function bukcet()", "bucket"),
    ("SELECT system.builtin.uper(name) FROM orders", "function uper()", "upper"),
    (
        "SELECT date_format(date_trnc('day', at), 'y') FROM orders",
        "function date_trnc()",
        "date_trunc",
    ),
    ("SELECT * FROM (SELECT `uper`(name) AS n FROM orders)", "function uper()", "upper"),
    ("SELECT amont FROM orders", "column amont", "amount"),
    ("SELECT o.amont FROM orders o JOIN customers c ON o.id = c.id", "column amont", "amount"),
    ("SELECT o.id FROM orders o JOIN customers c ON o.id = c.idd", "column idd", "id"),
    ("SELECT x.id FROM orders o", "table or column x", "o"),
    ("SELECT id FROM orders WHERE max(amount) > 1 AND contry = 'a'", "column contry", "country"),
    (
        "WITH a AS (SELECT id, name AS label FROM orders) SELECT lable FROM a",
        "column lable",
        "label",
    ),
    ("SELECT n FROM (SELECT id AS m FROM orders)", "column n", "m"),
    (
        "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM customers c WHERE c.idd = orders.id)",
        "column idd",
        "id",
    ),
    ("SELECT sum(amount) AS total FROM orders GROUP BY contry", "column contry", "country"),
    ("SELECT id FROM orders ORDER BY amont", "column amont", "amount"),
    ("SELECT id FROM customers UNION ALL SELECT idd FROM customers", "column idd", "id"),
    (
        "SELECT row_number() OVER (PARTITION BY contry ORDER BY id) AS n FROM orders",
        "column contry",
        "country",
    ),
    ("SELECT id, nme FROM customers t(id, label)", "column nme", "id"),
]
