-- @description: revenue per day and country
-- @tags: shop, daily
SELECT
    CAST(updated_at AS DATE) AS day,
    country,
    COUNT(*) AS orders,
    SUM(amount) AS revenue
FROM {{ ref('silver.clean_orders') }}
WHERE status <> 'returned'
GROUP BY ALL
