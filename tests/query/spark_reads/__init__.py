"""What queries in Spark's SQL read of each table."""
