"""Views of the catalog in queries of DuckDB."""
