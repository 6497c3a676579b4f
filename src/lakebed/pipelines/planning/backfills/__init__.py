"""Backfills: a range of a table, computed again in chunks."""
