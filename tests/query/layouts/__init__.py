"""Which layout a query reads."""
