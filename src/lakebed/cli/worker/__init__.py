"""About workers."""
