SELECT id AS payment_id, order_id, payment_method, CAST(amount / 100 AS DECIMAL(12, 2)) AS amount  -- from cents
FROM {{ landing_zone('raw_payments') }}
