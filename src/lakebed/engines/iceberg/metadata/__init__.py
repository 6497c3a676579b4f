"""Reading, changing and writing metadata files."""
