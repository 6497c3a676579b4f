-- Every order as it arrived; each file is read once.
-- @merge_strategy: append_only
-- @archive_landing_zones: true
-- @description: orders as they arrived
-- @tags: shop, daily
SELECT order_id, customer_id, product_id, quantity, amount, status, updated_at
FROM {{ landing_zone('orders') }}
