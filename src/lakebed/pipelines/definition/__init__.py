"""Pipelines as they are written: folders, settings, code; which there are and which wait for which."""
