"""Adoption: a folder of Parquet files becomes a table."""
