"""Which data files may hold a row that is asked for."""
