SELECT id AS customer_id, first_name, last_name
FROM {{ landing_zone('raw_customers') }}
