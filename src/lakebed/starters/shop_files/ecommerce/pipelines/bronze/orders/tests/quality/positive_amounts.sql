-- @description: every amount is positive
-- @remediation: Correct the file in its zone, then run again.
SELECT order_id, amount, updated_at
FROM {{ this }}
WHERE amount <= 0
