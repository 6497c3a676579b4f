"""Avro files, read and rewritten."""
