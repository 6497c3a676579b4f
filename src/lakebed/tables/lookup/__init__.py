"""Which table is meant by a name."""
