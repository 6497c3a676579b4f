"""From a snapshot to its data files."""
