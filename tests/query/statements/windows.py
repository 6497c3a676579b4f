"""Window functions: partitions, frames of every kind, exclusions, filters."""

WINDOWS: dict[str, str] = {
    "window": "SELECT id, row_number() OVER (ORDER BY id) FROM orders",
    "window partition": (
        "SELECT id, rank() OVER (PARTITION BY paid ORDER BY id), dense_rank() OVER (ORDER BY paid)"
        " FROM orders"
    ),
    "named window": (
        "SELECT id, sum(amount) OVER w, count(*) OVER (w ROWS 1 PRECEDING) FROM orders WINDOW w AS"
        " (ORDER BY id)"
    ),
    "window rows": (
        "SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM orders"
    ),
    "window range": (
        "SELECT id, count(*) OVER (ORDER BY day RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT"
        " ROW) FROM orders"
    ),
    "window groups": (
        "SELECT id, sum(id) OVER (ORDER BY customer GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW)"
        " FROM orders"
    ),
    "window unbounded": (
        "SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)"
        " FROM orders"
    ),
    "window exclude": (
        "SELECT id, sum(id) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) FROM"
        " orders"
    ),
    "window exclude ties": (
        "SELECT id, count(*) OVER (ORDER BY customer RANGE UNBOUNDED PRECEDING EXCLUDE TIES) FROM"
        " orders"
    ),
    "window filter": "SELECT id, count(*) FILTER (WHERE paid) OVER (ORDER BY id) FROM orders",
    "window distinct": "SELECT id, count(DISTINCT country) OVER (ORDER BY id) FROM orders",
    "window ignore nulls": "SELECT id, lag(country IGNORE NULLS) OVER (ORDER BY id) FROM orders",
    "window order by argument": (
        "SELECT id, list(id ORDER BY id DESC) OVER (PARTITION BY customer) FROM orders"
    ),
    "window shares": (
        "SELECT ntile(2) OVER w, cume_dist() OVER w, nth_value(id, 2) OVER w FROM orders WINDOW w"
        " AS (ORDER BY id)"
    ),
    "window over groups": "SELECT country, sum(count(*)) OVER () FROM orders GROUP BY country",
    "window below a condition": (
        "SELECT * FROM (SELECT id, sum(id) OVER (ORDER BY id) AS run FROM orders) WHERE id = 4"
    ),
}
