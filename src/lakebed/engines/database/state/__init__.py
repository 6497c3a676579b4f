"""Lakebed's own state, as rows."""
