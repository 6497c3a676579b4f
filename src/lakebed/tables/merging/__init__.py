"""How a batch enters a table."""
