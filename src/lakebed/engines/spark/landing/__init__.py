"""Spark's side of landing zones."""
