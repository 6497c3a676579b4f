"""User SQL, checked before it runs."""
