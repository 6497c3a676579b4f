"""The command `sql`: a shell for SQL."""
