"""Batches of very many files: found by listing, known from snapshots, decided upon."""
