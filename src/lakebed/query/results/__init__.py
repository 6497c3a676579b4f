"""Answers: as frames, rows and files; and the query log."""
