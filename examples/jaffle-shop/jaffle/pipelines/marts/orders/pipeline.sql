{% set payment_methods = ['credit_card', 'coupon', 'bank_transfer', 'gift_card'] %}
WITH paid AS (
  SELECT
    order_id,
    {% for method in payment_methods %}
    SUM(CASE WHEN payment_method = '{{ method }}' THEN amount ELSE 0 END) AS {{ method }}_amount,
    {% endfor %}
    SUM(amount) AS amount
  FROM {{ ref('stg_payments') }}
  GROUP BY order_id
)
SELECT o.order_id, o.customer_id, o.order_date, o.status,
  {% for method in payment_methods %}
  p.{{ method }}_amount,
  {% endfor %}
  p.amount
FROM {{ ref('stg_orders') }} AS o
LEFT JOIN paid AS p ON p.order_id = o.order_id
