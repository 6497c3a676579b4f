"""Catalogs: in the lake's database, or behind a REST server."""
