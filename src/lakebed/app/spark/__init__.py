"""Spark before it is needed, and between commands."""
