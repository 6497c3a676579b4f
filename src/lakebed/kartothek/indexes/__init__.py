"""Inverted indices: which partitions hold a value of a column."""
