WITH ordered AS (
  SELECT customer_id, MIN(order_date) AS first_order, MAX(order_date) AS most_recent_order, COUNT(*) AS number_of_orders
  FROM {{ ref('stg_orders') }}
  GROUP BY customer_id
),
paid AS (
  SELECT o.customer_id, SUM(p.amount) AS customer_lifetime_value
  FROM {{ ref('stg_payments') }} AS p
  JOIN {{ ref('stg_orders') }} AS o ON o.order_id = p.order_id
  GROUP BY o.customer_id
)
SELECT c.customer_id, c.first_name, c.last_name,
  o.first_order, o.most_recent_order, o.number_of_orders, p.customer_lifetime_value
FROM {{ ref('stg_customers') }} AS c
LEFT JOIN ordered AS o ON o.customer_id = c.customer_id
LEFT JOIN paid AS p ON p.customer_id = c.customer_id
