-- @description: an order is worth something
-- @remediation: Correct the file in the zone, then run again.
SELECT order_id, amount, updated_at
FROM {{ this }}
WHERE amount <= 0
