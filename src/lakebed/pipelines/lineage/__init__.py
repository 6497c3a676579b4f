"""Where tables and columns come from, and the files by which other tools learn of it."""
