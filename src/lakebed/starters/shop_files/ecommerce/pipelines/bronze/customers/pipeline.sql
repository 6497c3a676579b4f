-- @description: customers as the shop knows them today
-- @tags: shop
SELECT customer_id, name, country
FROM {{ landing_zone('customers') }}
