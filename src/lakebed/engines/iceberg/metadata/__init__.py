"""Metadata files: read, changed and written."""
