"""Stars, COLUMNS, lambdas, structs, lists, maps, casts, CASE, parameters."""

EXPRESSIONS: dict[str, str] = {
    "star exclude": "SELECT * EXCLUDE (tags, addr, attrs) FROM orders",
    "star exclude of one table": (
        "SELECT * EXCLUDE (o.customer) FROM orders o JOIN customers c USING (customer)"
    ),
    "star replace": "SELECT * REPLACE (id * 10 AS id, upper(country) AS country) FROM orders",
    "star rename": "SELECT * RENAME (id AS key) FROM orders",
    "star like": "SELECT * LIKE 'c%' FROM orders",
    "star not similar": "SELECT * NOT SIMILAR TO '.*(t|a).*' FROM orders",
    "columns regular expression": "SELECT COLUMNS('^(id|customer)$') + 1 FROM orders",
    "columns lambda": "SELECT COLUMNS(c -> c LIKE '%d%') FROM orders",
    "columns list": "SELECT COLUMNS(['id', 'country']) FROM orders",
    "columns exclude": "SELECT min(COLUMNS(* EXCLUDE (tags, addr, attrs))) FROM orders",
    "columns renamed": r"SELECT COLUMNS('(i)(d)') AS 'x_\2\1' FROM orders",
    "columns unpacked": (
        "SELECT coalesce(*COLUMNS('^(country|name)$'), '') AS c FROM orders JOIN customers USING"
        " (customer)"
    ),
    "columns in where": "SELECT id FROM orders WHERE COLUMNS(['id', 'customer']) > 1",
    "columns in order by": (
        "ORDERED SELECT id, customer FROM orders ORDER BY COLUMNS(['customer', 'id'])"
    ),
    "lambda": "SELECT id, list_transform(tags, lambda t: upper(t)) FROM orders",
    "lambda arrow": "SELECT id, list_filter(tags, t -> t <> 'a') FROM orders",
    "lambda with index": "SELECT list_transform([5, 6], lambda x, i: x * i)",
    "lambda over columns": "SELECT id, list_filter(range(id), lambda i: i > customer) FROM orders",
    "list reduce": "SELECT list_reduce([1, 2, 3], lambda a, b: a + b)",
    "list comprehension": "SELECT id, [upper(t) FOR t IN tags IF t <> 'a'] FROM orders",
    "struct field": "SELECT addr.city, orders.addr.zip, addr['city'] FROM orders",
    "struct star": "SELECT id, addr.* FROM orders",
    "struct literal": (
        "SELECT {'a': id, 'b': {'c': country}} AS s, row(id, country), struct_pack(k := id) FROM"
        " orders"
    ),
    "struct of a row": "SELECT o FROM (SELECT id, country FROM orders) o",
    "struct in where": "SELECT id FROM orders WHERE addr.zip > 2",
    "struct unnest": "SELECT unnest(addr) FROM orders",
    "struct unnest recursive": (
        "SELECT unnest([{'a': id, 'b': [1, 2]}], recursive := true) FROM orders"
    ),
    "list literal": "SELECT [id, customer], list_value(1, 2) FROM orders",
    "list element": "SELECT tags[1], tags[-1], list_extract(tags, 2) FROM orders",
    "list slice": "SELECT tags[1:1], tags[:-2], tags[:-:2] FROM orders",
    "list contains": "SELECT id FROM orders WHERE list_contains(tags, 'a') OR 'b' IN tags",
    "array": "SELECT array_value(1, 2, 3)::INT[3], [1, 2]::INT[2]",
    "unnest": "SELECT id, unnest(tags) AS tag FROM orders",
    "unnest of two": "SELECT unnest([1, 2]), unnest(['a', 'b', 'c'])",
    "map": "SELECT id, attrs['k'], map_keys(attrs), cardinality(attrs) FROM orders",
    "map literal": "SELECT MAP {'a': id, 'b': customer}, MAP {}, map([1], ['x']) FROM orders",
    "union type": (
        "SELECT union_value(num := id)::UNION(num BIGINT, str VARCHAR) AS u, union_tag(u) FROM"
        " orders"
    ),
    "case": (
        "SELECT CASE WHEN id > 3 THEN 'm' WHEN paid THEN 'p' ELSE 'f' END, CASE country WHEN 'DE'"
        " THEN 1 END FROM orders"
    ),
    "cast": (
        "SELECT CAST(id AS VARCHAR), id::DOUBLE, TRY_CAST(country AS INT), amount::INT FROM orders"
    ),
    "try": "SELECT TRY(CAST(country AS INT)), try_cast('x' AS DATE) FROM orders",
    "coalesce": (
        "SELECT coalesce(country, 'none'), nullif(country, 'DE'), ifnull(paid, false) FROM orders"
    ),
    "interval": (
        "SELECT day + INTERVAL 1 DAY, \"at\" - INTERVAL '2 hours', day - DATE '2026-01-01' FROM"
        " orders"
    ),
    "date parts": (
        "SELECT extract(month FROM day), date_trunc('hour', o.at), year(day), strftime(o.at,"
        " '%Y/%m') FROM orders o"
    ),
    "texts": (
        "SELECT country || '!', country[1], left(country, 1), format('{}-{}', id, country),"
        " lower(country) FROM orders"
    ),
    "dot function calls": "SELECT country.lower().replace('d', 'x') FROM orders",
    "operators": (
        "SELECT id // 2, id % 2, -id, id ** 2, id & 3, id | 8, id << 1, ~id, 7 / 2, @(-3) FROM"
        " orders"
    ),
    "comparisons": (
        "SELECT id < 3, id = 3, country IS DISTINCT FROM 'DE', NOT paid, paid IS TRUE, paid IS NOT"
        " FALSE FROM orders"
    ),
    "row comparison": "SELECT id FROM orders WHERE (country, customer) > ('DE', 1)",
    "json": (
        """SELECT '{"a": [1, 2]}'::JSON -> 'a' ->> 0, json_extract('{"a": 3}', '$.a'), to_json(addr) FROM orders"""
    ),
    "literals": (
        r"SELECT 1_000, 1e3, 0xFF, 'it''s', E'a\tb', $$raw$$, TRUE, NULL, TIMESTAMP '2026-01-01"
        r" 01:02:03'"
    ),
    "comments": "SELECT id -- orders\n FROM /* customers */ orders",
    "odd names": 'SELECT id AS "select", id AS "a b", id AS "é" FROM orders',
    "typeof": (
        "SELECT DISTINCT typeof(id), typeof(amount), typeof(addr), typeof(attrs), typeof(tags),"
        " typeof(o.at) FROM orders o"
    ),
    "collate": "SELECT name FROM customers WHERE name COLLATE NOCASE = 'ANN'",
    "any_value": (
        "SELECT any_value(customer) FILTER (customer = 1), count(country), bool_or(paid),"
        " median(id) FROM orders"
    ),
}
PARAMETERS: dict[str, tuple[str, object]] = {
    "parameter": ("SELECT id FROM orders WHERE customer = ? AND country = ?", [1, "DE"]),
    "numbered parameter": ("SELECT id, $2 FROM orders WHERE id > $1", [2, "x"]),
    "named parameter": (
        "SELECT id FROM orders WHERE id > $least AND day < $until",
        {"least": 1, "until": "2026-01-04"},
    ),
    "parameter in limit": ("SELECT count(*) FROM (FROM orders LIMIT $1)", [2]),
    "parameter in a list": ("SELECT id FROM orders WHERE id IN (?, ?)", [1, 4]),
    "parameter that is a list": (
        "SELECT id FROM orders WHERE id IN (SELECT unnest($ids))",
        {"ids": [2, 3]},
    ),
}
