"""Skipping data files that cannot hold a wanted row."""
