"""Untrusted SQL, run in a process of its own."""
