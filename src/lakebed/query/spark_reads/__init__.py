"""What a query in Spark's SQL reads of each table: conditions on its rows, and columns."""
