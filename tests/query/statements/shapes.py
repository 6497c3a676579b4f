"""PIVOT, UNPIVOT, moments, and what tells of tables."""

SHAPES: dict[str, str] = {
    "pivot": "PIVOT orders ON country USING sum(amount) GROUP BY paid",
    "pivot without values": "PIVOT customers ON name",
    "pivot in": (
        "PIVOT orders ON country IN ('DE', 'NL') USING count(*) AS n, max(id) AS m GROUP BY"
        " customer"
    ),
    "pivot in subquery": (
        "PIVOT orders ON country IN (SELECT min(country) FROM prices) USING count(*) GROUP BY"
        " customer"
    ),
    "pivot of several": "PIVOT orders ON country, paid USING count(*) GROUP BY customer",
    "pivot of a combination": (
        "FROM orders PIVOT (count(*) FOR (country, paid) IN (('DE', true), ('NL', false)) GROUP"
        " BY id)"
    ),
    "pivot of an expression": "PIVOT orders ON id % 2 USING count(*) GROUP BY customer",
    "pivot of a subquery": (
        "PIVOT (SELECT country, amount FROM orders WHERE id > 1) ON country USING sum(amount)"
    ),
    "pivot in from": (
        "FROM (PIVOT orders ON country USING sum(amount) GROUP BY customer) JOIN customers USING"
        " (customer)"
    ),
    "pivot in with": (
        "WITH p AS (PIVOT orders ON country USING count(*) GROUP BY paid) SELECT * FROM p WHERE"
        " paid"
    ),
    "pivot of with": (
        "WITH q AS (FROM orders WHERE paid) PIVOT q ON country USING count(*) GROUP BY customer"
    ),
    "pivot ordered": (
        "ORDERED PIVOT orders ON country USING count(*) GROUP BY customer ORDER BY customer DESC"
        " LIMIT 2"
    ),
    "pivot of the standard": (
        "FROM orders PIVOT (sum(amount) AS s FOR country IN ('DE' AS de, 'NL') GROUP BY customer)"
    ),
    "pivot of the standard with several": (
        "FROM orders PIVOT (count(*) FOR country IN ('DE') paid IN (true) GROUP BY customer)"
    ),
    "pivot at a moment": "PIVOT {first} ON country USING count(*) GROUP BY customer",
    "unpivot": "UNPIVOT months ON jan, feb, mar INTO NAME month VALUE amount",
    "unpivot of columns": (
        "UNPIVOT months ON COLUMNS(* EXCLUDE (country)) INTO NAME month VALUE amount"
    ),
    "unpivot of expressions": (
        "UNPIVOT months ON (jan * 2) AS twice, feb INTO NAME month VALUE amount"
    ),
    "unpivot into several": (
        "UNPIVOT months ON (jan, feb) AS early, (mar, feb) AS late INTO NAME part VALUE a, b"
    ),
    "unpivot without names": "UNPIVOT months ON jan, feb, mar",
    "unpivot of the standard": "FROM months UNPIVOT (amount FOR month IN (jan, feb, mar))",
    "unpivot of the standard with nulls": (
        "FROM months UNPIVOT INCLUDE NULLS (amount FOR month IN (jan, feb AS 'f'))"
    ),
    "unpivot in from": (
        "SELECT month, sum(amount) FROM (UNPIVOT months ON jan, feb INTO NAME month VALUE amount)"
        " GROUP BY month"
    ),
    "moment": "SELECT count(*), sum(amount) FROM {first}",
    "moment beside the present": "SELECT a.id FROM orders a ANTI JOIN {first} USING (id)",
    "moment in a subquery": "SELECT id, (SELECT count(*) FROM {first}) AS n FROM orders",
    "describe": "DESCRIBE orders",
    "describe a query": "DESCRIBE SELECT id, amount * 2 AS twice FROM orders",
    "describe in from": "SELECT column_name FROM (DESCRIBE orders) WHERE column_type = 'VARCHAR'",
    "show a table": "SHOW customers",
    "summarize in from": (
        "SELECT column_name, column_type, min, max, approx_unique, count FROM (SUMMARIZE customers)"
    ),
    "summarize a query in from": (
        "SELECT column_name, min, max, q50 FROM (SUMMARIZE SELECT id, country FROM orders)"
    ),
    "show tables": "ORDERED SHOW TABLES",
    "show tables in from": "SELECT upper(name) FROM (SHOW TABLES)",
    "information_schema.tables": (
        "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema <> 'past'"
    ),
    "information_schema.columns": (
        "SELECT table_name, column_name, ordinal_position, data_type, is_nullable"
        " FROM information_schema.columns WHERE table_schema <> 'past'"
    ),
    "duckdb_tables": (
        "SELECT table_name, column_count FROM duckdb_tables() WHERE schema_name <> 'past'"
    ),
    "duckdb_columns": (
        "SELECT table_name, column_name, data_type FROM duckdb_columns()"
        " WHERE NOT internal AND schema_name <> 'past'"
    ),
    "pragma_table_info": "FROM pragma_table_info('orders')",
    "pragma": "PRAGMA table_info('customers')",
    "pragma version": "PRAGMA version",
}
# Whose rows tell of files or of DuckDB's plan, or depend on the order of a sum: only their columns
# are the same.
ONLY_COLUMNS = {
    "summarize": "SUMMARIZE customers",
    "summarize a query": "SUMMARIZE SELECT id, country FROM orders",
    "explain": "EXPLAIN SELECT * FROM orders WHERE id = 1",
    "explain analyze": "EXPLAIN ANALYZE SELECT count(*) FROM orders",
    "explain as json": "EXPLAIN (FORMAT json) FROM orders",
    "show all tables": "SHOW ALL TABLES",
    "show databases": "SHOW DATABASES",
}
# What the refusal says, and by which words docs/reading.md tells why.
REFUSED = {
    "SELECT rowid FROM orders": ("no rowid", "`rowid`"),
    "FROM query('FROM orders')": ("function query may not be called", "`query('…')`"),
    "FROM pragma_storage_info('orders')": ("DuckDB stores", "`pragma_storage_info`"),
    "SELECT * FROM orders, duckdb_tables()": (
        "combined with rows",
        "a listing and rows of tables in one query",
    ),
    "PIVOT orders ON id IN (1 + 1) USING count(*)": ("are computed", "`PIVOT … ON a IN (1 + 1)`"),
    "EXPLAIN PIVOT orders ON id USING count(*)": (
        "does not explain a PIVOT",
        "`EXPLAIN PIVOT … ON a`",
    ),
    "CALL duckdb_tables()": ("CALL is not a query", "`CALL`"),
    "PREPARE p AS SELECT 1": ("PREPARE is not a query", "`PREPARE`"),
    "CREATE TABLE x AS FROM orders": ("CREATE is not a query", "`CREATE`"),
    "COPY orders TO 'x.csv'": ("COPY is not a query", "`COPY`"),
    "SET threads = 1": ("SET is not a query", "`SET`"),
    "SELECT 1; SELECT 2": ("there are 2 statements", "several statements"),
}
