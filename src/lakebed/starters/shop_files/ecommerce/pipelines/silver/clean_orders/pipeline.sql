-- One row per order, in its latest state; rows that arrive late do not overwrite newer ones.
-- @merge_strategy: incremental
-- @unique_key: order_id
-- @watermark_column: updated_at
-- @description: orders with customer and product
-- @tags: shop, daily
SELECT
    o.order_id,
    o.customer_id,
    c.country,
    p.category,
    o.quantity,
    o.amount,
    TRIM(o.status) AS status,
    o.updated_at
FROM {{ ref('bronze.orders') }} AS o
JOIN {{ ref('bronze.customers') }} AS c ON c.customer_id = o.customer_id
JOIN {{ ref('bronze.products') }} AS p ON p.product_id = o.product_id
{% if is_incremental() %}
WHERE o.updated_at > '{{ watermark_value }}'
{% endif %}
