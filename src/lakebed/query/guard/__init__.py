"""Untrusted SQL, checked before it runs."""
