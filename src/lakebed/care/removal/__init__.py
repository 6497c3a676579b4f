"""Removing files: only what no table reaches."""
