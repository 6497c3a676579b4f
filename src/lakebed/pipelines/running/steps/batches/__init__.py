"""The steps of one batch of a source: its files, its rows, and what it was made from."""
