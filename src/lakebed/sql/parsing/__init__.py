"""SQL read as Spark reads it."""
