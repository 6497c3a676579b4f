"""The only home of pyspark, pyiceberg, duckdb, obstore and sqlalchemy."""
