"""Where tables and columns come from, and the files that tell other tools about it."""
