"""The noun `table`."""
