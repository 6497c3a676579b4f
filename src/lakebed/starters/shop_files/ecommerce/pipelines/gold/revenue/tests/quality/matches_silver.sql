-- @description: no revenue is lost between silver and gold
WITH silver AS (
    SELECT SUM(amount) AS revenue FROM {{ ref('silver.clean_orders') }} WHERE status <> 'returned'
),
gold AS (
    SELECT SUM(revenue) AS revenue FROM {{ this }}
)
SELECT silver.revenue AS in_silver, gold.revenue AS in_gold
FROM silver CROSS JOIN gold
WHERE NOT (silver.revenue <=> gold.revenue)
