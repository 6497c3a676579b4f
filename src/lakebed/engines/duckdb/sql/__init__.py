"""Statements for DuckDB, as text."""
