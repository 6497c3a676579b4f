"""A table's columns, and how they follow a result."""
