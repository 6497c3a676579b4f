"""Pipelines as they are written: folders, settings, code, and the graph of what they read."""
