"""Which layout of a table a query reads: decided by what reading each would cost."""
