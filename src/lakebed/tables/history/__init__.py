"""Past states of a table: found, compared and returned to."""
