"""Folders of Parquet files that become tables: found, looked at, and described."""
