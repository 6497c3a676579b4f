-- @severity: warn
-- @description: an order dated in the future means that a clock is wrong
SELECT order_id, updated_at
FROM {{ this }}
WHERE updated_at > TIMESTAMP '{{ run_started_at }}' + INTERVAL 1 DAY
