"""Batches of very many files, and chunks of ranges: found, known from snapshots, decided upon."""
