"""Untrusted SQL, judged before it runs."""
