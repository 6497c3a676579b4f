"""The noun `pipeline`."""
