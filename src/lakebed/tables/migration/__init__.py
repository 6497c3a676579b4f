"""Moving a table onto another partitioning, a batch of files at a time."""
