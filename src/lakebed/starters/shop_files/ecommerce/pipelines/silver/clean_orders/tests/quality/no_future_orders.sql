-- @severity: warn
-- @description: an order from tomorrow is a clock gone wrong
SELECT order_id, updated_at
FROM {{ this }}
WHERE updated_at > TIMESTAMP '{{ run_started_at }}' + INTERVAL 1 DAY
